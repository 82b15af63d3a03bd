/* What tests measure in a page. */
(() => {
  const parse = (colour) => {
    const [red, green, blue, alpha = 1] = colour.match(/[\d.]+/g).map(Number);
    return { channels: [red, green, blue], alpha };
  };
  const blend = (over, under, alpha) => over.map((value, k) => alpha * value + (1 - alpha) * under[k]);
  const shine = (channels) => {
    const [red, green, blue] = channels.map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one, other) => {
    const [dark, light] = [shine(one), shine(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const seeThrough = (element) => {
    let opacity = 1;
    for (let part = element; part && part.tagName !== "svg"; part = part.parentElement) opacity *= Number(getComputedStyle(part).opacity);
    return opacity;
  };
  const isInside = (box, x, y) => box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;
  const paper = () => parse(getComputedStyle(document.body).backgroundColor).channels;

  /* The colour under the middle of a text: the last shape drawn there before it, else the paper. */
  function findGround(text, shapes) {
    const { left, top, width, height } = text.getBoundingClientRect();
    const under = shapes.filter(({ shape, box }) => isInside(box, left + width / 2, top + height / 2)
      && shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING);
    return under.reduce((ground, { fill, opacity }) => blend(fill.channels, ground, fill.alpha * opacity), paper());
  }

  function listShapes(svg) {
    return Array.from(svg.querySelectorAll(".mark-rect path, .mark-symbol path, .mark-arc path"), (shape) => {
      const style = getComputedStyle(shape);
      return { shape, style, box: shape.getBoundingClientRect(), opacity: seeThrough(shape) * Number(style.fillOpacity) };
    }).filter(({ style }) => style.fill.startsWith("rgb")).map((found) => ({ ...found, fill: parse(found.style.fill) }));
  }

  /* Texts of charts that are harder to read than they may be: [chart, text, contrast]. */
  function findFaintTexts(least) {
    const faint = [];
    for (const chart of document.querySelectorAll("figure.chart")) {
      const svg = chart.querySelector(".drawn svg");
      const shapes = listShapes(svg);
      for (const text of svg.querySelectorAll("text")) {
        if (!text.textContent.trim() || seeThrough(text) === 0) continue;
        const style = getComputedStyle(text);
        const fill = parse(style.fill);
        const ground = findGround(text, shapes);
        const seen = contrast(blend(fill.channels, ground, fill.alpha * seeThrough(text) * Number(style.fillOpacity)), ground);
        if (seen < least) faint.push([chart.dataset.name, text.textContent.slice(0, 40), Math.round(100 * seen) / 100]);
      }
    }
    return faint;
  }

  /* Full marks of charts that stand out too little from the paper: [chart, colour, contrast]. */
  function findFaintMarks(least) {
    const faint = new Map();
    for (const chart of document.querySelectorAll("figure.chart")) {
      const marks = chart.querySelectorAll(".drawn svg .role-mark:is(.mark-symbol, .mark-rule, .mark-line) :is(path, line)");
      for (const mark of marks) {
        const style = getComputedStyle(mark);
        const colour = style.stroke.startsWith("rgb") ? style.stroke : style.fill;
        if (!colour.startsWith("rgb") || seeThrough(mark) < 0.9) continue;
        const seen = contrast(parse(colour).channels, paper());
        if (seen < least) faint.set(`${chart.dataset.name} ${colour}`, Math.round(100 * seen) / 100);
      }
    }
    return Array.from(faint);
  }

  /* What sticks out of the window, but for what lies in a box that scrolls by itself. */
  function findOverflow() {
    const wide = document.scrollingElement.scrollWidth - window.innerWidth;
    const out = [];
    for (const element of document.querySelectorAll("body *:not(svg *, script, style, option)")) {
      const box = element.getBoundingClientRect();
      if (box.width === 0 || box.height === 0 || element.parentElement.closest(".box")) continue;
      if (box.right > window.innerWidth + 0.5 || box.left < -0.5) out.push(`${element.tagName}.${element.className}`);
    }
    return wide > 0 ? [`the page, by ${wide} px`, ...out] : out;
  }

  /* Boxes whose content is wider than they are though nobody can scroll on paper. */
  function findCut() {
    const cut = Array.from(document.querySelectorAll("main, section, .box, figure, table, p, .still, .still svg, pre, dd, li"));
    return cut.filter((element) => element.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
      .map((element) => `${element.tagName}.${element.className.baseVal ?? element.className} in ${element.closest("section")?.id}`);
  }

  window.measuring = { findFaintTexts, findFaintMarks, findOverflow, findCut };
})();

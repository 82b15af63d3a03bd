#!/bin/sh
# The browser that shows the page to its tests: the one that is there, else Debian's Chromium.
for name in chromium chromium-browser google-chrome google-chrome-stable; do
  command -v "$name" >/dev/null && exit
done
[ "$(id -u)" = 0 ] && as_root="env" || as_root="sudo -n"
get="$as_root DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=60"
echo "Installing Debian's chromium, which tests of the page need"
if said=$($get update 2>&1 && $get install --yes --no-install-recommends \
  chromium fonts-dejavu-core fonts-noto-color-emoji 2>&1); then
  exit
fi
echo "No browser, so its tests are skipped; install Chromium yourself to run them (apt-get said: $(echo "$said" | tail -n 1))" >&2
[ "$KARATAGE_BROWSER" != required ]

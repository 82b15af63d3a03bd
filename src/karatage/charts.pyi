from karatage.views.benchmark import draw_benchmark as chart_benchmark
from karatage.views.board import draw_board as chart_board
from karatage.views.charts import write_chart as write_chart
from karatage.views.comparison import draw_comparison as chart_comparison
from karatage.views.crowd import draw_crowd as chart_crowd
from karatage.views.variance import draw_interaction as chart_interaction
from karatage.views.variance import draw_main_effects as chart_main_effects
from karatage.views.variance import draw_tukey as chart_tukey

__all__ = [
    "chart_benchmark",
    "chart_board",
    "chart_comparison",
    "chart_crowd",
    "chart_interaction",
    "chart_main_effects",
    "chart_tukey",
    "write_chart",
]

from karatage.views.benchmark import chart_benchmark as chart_benchmark
from karatage.views.benchmark import chart_judges as chart_judges
from karatage.views.board import chart_board as chart_board
from karatage.views.charts import write_chart as write_chart
from karatage.views.comparison import chart_comparison as chart_comparison
from karatage.views.crowd import chart_crowd as chart_crowd
from karatage.views.variance import chart_interaction as chart_interaction
from karatage.views.variance import chart_main_effects as chart_main_effects
from karatage.views.variance import chart_tukey as chart_tukey

__all__ = [
    "chart_benchmark",
    "chart_board",
    "chart_comparison",
    "chart_crowd",
    "chart_interaction",
    "chart_judges",
    "chart_main_effects",
    "chart_tukey",
    "write_chart",
]

"""One static page per run."""

from agentquest.reports.render.html.page import write_html_report

__all__ = ["write_html_report"]

"""WebShop, natively: find and buy the product that fits an instruction."""

from agentquest.benchmarks.webshop.driver import (
    WebshopAction,
    WebshopDriver,
    WebshopMetrics,
    WebshopObservation,
    WebshopState,
    WebshopUtils,
)

__all__ = [
    "WebshopAction",
    "WebshopDriver",
    "WebshopMetrics",
    "WebshopObservation",
    "WebshopState",
    "WebshopUtils",
]

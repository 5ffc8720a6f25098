"""Fetching files from the network so that a broken line costs nothing but time."""

from agentquest.downloads.archives import Extraction, check_zip, extract_zip
from agentquest.downloads.fetching import Progress, Retry, fetch

__all__ = ["Extraction", "Progress", "Retry", "check_zip", "extract_zip", "fetch"]

"""Every limit of A2A in one place: sizes, numbers, and the seconds we wait."""

# The agent under test
MAX_REPLY_CHARACTERS = 65_536
KEPT_OF_LONG_REPLY = 2_000  # characters of a longer reply that are recorded
MAX_RESPONSE_BYTES = 8 * 1024 * 1024  # after decompression
MAX_REDIRECTS = 5
CONNECT_TIMEOUT_S = 10.0
CONNECT_WAITS_S = (0.2, 0.8)  # before each further attempt to connect
BUSY_WAITS_S = (0.5, 1.0, 2.0, 4.0, 8.0)  # after each 429 or 503
MAX_RETRY_AFTER_S = 60.0
POLL_WAITS_S = (0.05, 0.1, 0.2, 0.5, 1.0)
CARD_TIMEOUT_S = (5.0, 30.0)  # the shortest and the longest wait for a card
SILENT_GAMES = 5  # unanswered games in a row after which no further game is started

# What an agent says about itself
MAX_NAME_CHARACTERS = 100
MAX_REPORTED_CALLS = 16
MAX_MODEL_NAME_CHARACTERS = 200

# Requests
MAX_GAMES = 100_000
MAX_REASON_CHARACTERS = 300  # of an error in progress messages and reports
PROGRESS_INTERVAL_S = 2.0

# Our servers
MAX_BODY_BYTES = 256 * 1024
SHUTDOWN_S = 1.0
MAX_CONTEXTS = 256
CONTEXT_IDLE_S = 3600.0
MAX_TASKS = 1000
FINISHED_TASK_S = 3600.0
MAX_TASK_HISTORY = 50

# The LLM white agent
MAX_MESSAGES = 60
MAX_PROMPT_CHARACTERS = 500_000

# The launcher
START_TIMEOUT_S = 60.0
LOCAL_CARD_TIMEOUT_S = 2.0
TERMINATE_S = 5.0
SHOWN_OUTPUT_BYTES = 2000

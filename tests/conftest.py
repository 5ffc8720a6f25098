"""Settings that hold for every test."""

import signal

from hypothesis import settings

# Times say something about the machine, never about the code: no example has a deadline.
settings.register_profile("agentquest", deadline=None)
settings.load_profile("agentquest")

# Started in the background or under nohup, we were told to ignore these; the programs that the
# tests start would inherit that, and tests stop some of them with exactly these signals.
for _number, _usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)

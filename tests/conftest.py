"""Settings that hold for every test."""

import signal

from hypothesis import settings

from left_behind import end_with_us

end_with_us()

# Times say something about the machine, never about the code: no example has a deadline.
settings.register_profile("agentquest", deadline=None)
settings.load_profile("agentquest")

# Started in the background or under nohup, we were told to ignore these; the programs that the
# tests start would inherit that, and tests stop some of them with exactly these signals.
for _name, _usual in (("SIGINT", signal.default_int_handler), ("SIGHUP", signal.SIG_DFL)):
    _number = getattr(signal, _name, None)  # Windows has no SIGHUP
    if _number is not None and signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)

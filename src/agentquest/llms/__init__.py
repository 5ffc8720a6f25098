"""Chat models: the only place that calls one."""

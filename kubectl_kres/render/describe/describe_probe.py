"""A probe in the words of kubectl describe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

#: What Go's URL leaves as it is in a path.
_SAFE = "/$&+,:;=@!'()*"


def probe_text(probe: Mapping[str, Any]) -> str:
    """How the container is asked, and how often. Source: kubectl describe.go DescribeProbe."""
    delay, timeout, period = (probe.get(f"{key}Seconds", 0) for key in ("initialDelay", "timeout", "period"))
    success, failure = (probe.get(f"{key}Threshold", 0) for key in ("success", "failure"))
    often = f"delay={delay}s timeout={timeout}s period={period}s #success={success} #failure={failure}"
    return f"{_asked(probe)} {often}"


def _asked(probe: Mapping[str, Any]) -> str:
    if probe.get("exec") is not None:
        return f"exec [{' '.join(map(str, probe['exec'].get('command') or ()))}]"
    if probe.get("httpGet") is not None:
        held = probe["httpGet"]
        path = quote(str(held.get("path", "")), safe=_SAFE)
        scheme = str(held.get("scheme", "")).lower()
        return f"http-get {scheme}{':' * bool(scheme)}//{_host(held)}{path}"
    if probe.get("tcpSocket") is not None:
        held = probe["tcpSocket"]
        return f"tcp-socket {held.get('host', '')}:{held.get('port', '')}"
    if probe.get("grpc") is not None:
        return f"grpc <pod>:{probe['grpc'].get('port', 0)} {probe['grpc'].get('service', '')}"
    return "unknown"


def _host(held: Mapping[str, Any]) -> str:
    """Host and port; an address of IPv6 stands in brackets."""
    host = str(held.get("host", ""))
    return f"{f'[{host}]' if ':' in host else host}:{held.get('port', '')}"

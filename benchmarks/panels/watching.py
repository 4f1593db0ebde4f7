"""From what a person does to what they see of it, and how smooth a page is: measured inside of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

SEEN_MS = 60_000
_SEEN = """([event, seen, patience]) => {
    const isSeen = new Function(`return ${seen}`);
    window.acaiSeen = new Promise((resolve, reject) => {
        setTimeout(() => reject(new Error(`not seen: ${seen}`)), patience);
        window.addEventListener(event, ({ timeStamp }) => {
            const look = () => {
                if (isSeen()) {
                    requestAnimationFrame(() => resolve(performance.now() - timeStamp));
                } else {
                    requestAnimationFrame(look);
                }
            };
            requestAnimationFrame(look);
        }, { once: true, capture: true });
    });
}"""
_SMOOTH = """() => {
    const tasks = [0];
    const frames = [];
    new PerformanceObserver(list => {
        tasks.push(...list.getEntries().map(entry => entry.duration));
    }).observe({ type: 'longtask' });
    const look = now => {
        frames.push(now);
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    window.acaiSmooth = () => ({
        fps: (frames.length - 1) * 1000 / (frames.at(-1) - frames[0]),
        gap: Math.max(...frames.slice(1).map((now, at) => now - frames[at])),
        longest: Math.max(...tasks)
    });
}"""


def seen_after(page: Page, event: str, act: Callable[[], object], seen: str) -> float:
    """Act, and return the milliseconds from the event to the frame in which an expression of JavaScript is true."""
    assert not page.evaluate(f"() => Boolean({seen})"), f"it is there already: {seen}"
    page.evaluate(_SEEN, [event, seen, SEEN_MS])
    act()
    return float(page.evaluate("window.acaiSeen"))


def watch_frames(page: Page) -> None:
    """Look at each frame and each long task of the page from now on."""
    page.evaluate(_SMOOTH)


def frames_seen(page: Page) -> dict[str, float]:
    """Return frames a second (`fps`), the longest time between two (`gap`) and the longest task, in milliseconds."""
    found: dict[str, float] = page.evaluate("window.acaiSmooth()")
    return found

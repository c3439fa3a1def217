// Notifications of this browser, while the page is open and not looked at: a question came up, a run ended. Off until a
// person turns them on. Nothing outside of the browser is asked; a closed page is told nothing, for that there is the
// web hook of the server.

import { toast } from "./parts.js";

const KEY = "notify";

const can = () => "Notification" in window && window.isSecureContext;

/** Whether notifications are shown. */
export function notifies() {
  try {
    return can() && Notification.permission === "granted" && localStorage.getItem(KEY) === "on";
  } catch {
    return false;
  }
}

/** Turns notifications on or off in this browser; the browser asks the person first. */
export async function switchNotifications() {
  if (!can()) {
    toast("This browser shows notifications only over HTTPS or from this machine", "bad");
    return;
  }
  const on = !notifies();
  if (on && (await Notification.requestPermission()) !== "granted") {
    toast("The browser does not allow notifications from this page", "bad");
    return;
  }
  try {
    localStorage.setItem(KEY, on ? "on" : "off");
  } catch {
    toast("This browser remembers nothing for this page", "bad");
    return;
  }
  toast(on ? "Questions and ends of runs are notified in this browser" : "No more notifications");
}

/** Shows one, unless the page is looked at. A later one about the same thing takes its place. */
export function notify(about, text, href) {
  if (!notifies() || !document.hidden) return;
  try {
    const shown = new Notification("Bosun", { body: text.slice(0, 200), tag: about, icon: "/page/icon.svg" });
    shown.onclick = () => {
      window.focus();
      location.assign(href);
    };
  } catch {
    /* phones show them only for installed pages */
  }
}

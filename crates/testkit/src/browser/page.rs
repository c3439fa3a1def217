//! One tab: navigation, scripts, waiting for a condition, the mouse, the keyboard, screenshots, and all errors in it:
//! console errors and violations of the content security policy.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;

use super::error::{BrowserError, PATIENCE};
use super::wire::Wire;

type Complaints = Arc<Mutex<Vec<String>>>;

/// A tab of a browser.
#[derive(Debug)]
pub struct Page {
    wire: Arc<Wire>,
    session: String,
    complaints: Complaints,
}

impl Page {
    pub(super) async fn new(wire: Arc<Wire>, session: String) -> Result<Self, BrowserError> {
        let complaints = Complaints::default();
        tokio::spawn(listen(wire.events(), session.clone(), complaints.clone()));
        let page = Self { wire, session, complaints };
        for domain in ["Page.enable", "Runtime.enable", "Log.enable", "Network.enable"] {
            page.ask(domain, json!({})).await?;
        }
        page.size(1280, 800).await?;
        Ok(page)
    }

    async fn ask(&self, method: &str, params: Value) -> Result<Value, BrowserError> {
        self.wire.ask(&self.session, method, params).await
    }

    /// Opens an address and waits until it is loaded.
    pub async fn open(&self, url: &str) -> Result<(), BrowserError> {
        self.loads("Page.navigate", json!({ "url": url })).await
    }

    /// Reloads the page.
    pub async fn reload(&self) -> Result<(), BrowserError> {
        self.loads("Page.reload", json!({})).await
    }

    async fn loads(&self, method: &str, params: Value) -> Result<(), BrowserError> {
        let mut events = self.wire.events();
        let answer = self.ask(method, params).await?;
        if let Some(what) = answer["errorText"].as_str() {
            return Err(BrowserError::Refused { method: method.to_owned(), what: what.to_owned() });
        }
        let loaded = async {
            loop {
                match events.recv().await {
                    Ok(event)
                        if event["sessionId"] == self.session
                            && event["method"] == "Page.loadEventFired" =>
                    {
                        return;
                    }
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                }
            }
        };
        tokio::time::timeout(PATIENCE, loaded).await.map_err(|_| BrowserError::TooLong {
            what: "the page to load".to_owned(),
            seen: "it does not".to_owned(),
        })
    }

    /// Evaluates an expression; awaits a promise.
    pub async fn eval(&self, script: &str) -> Result<Value, BrowserError> {
        let params = json!({
            "expression": script, "awaitPromise": true, "returnByValue": true, "userGesture": true,
        });
        let mut answer = self.ask("Runtime.evaluate", params).await?;
        if let Some(details) = answer.get("exceptionDetails") {
            let thrown = details["exception"]["description"].as_str();
            let text = thrown.or(details["text"].as_str()).unwrap_or_default();
            return Err(BrowserError::Threw(text.to_owned()));
        }
        Ok(answer["result"]["value"].take())
    }

    /// Waits until an expression is true, evaluated for each frame that the browser draws. Survives navigation:
    /// evaluation continues on the new page.
    pub async fn wait_until(&self, condition: &str) -> Result<(), BrowserError> {
        let began = Instant::now();
        let mut seen = String::new();
        while began.elapsed() < PATIENCE {
            let left = (PATIENCE.saturating_sub(began.elapsed())).as_millis().min(20_000);
            let script = format!(
                "new Promise((done) => {{ const began = performance.now(); const look = () => {{ \
                 let holds = false; try {{ holds = Boolean({condition}); }} catch {{ holds = false; }} \
                 if (holds || performance.now() - began > {left}) done(holds); \
                 else requestAnimationFrame(look); }}; look(); }})"
            );
            match self.eval(&script).await {
                Ok(Value::Bool(true)) => return Ok(()),
                Ok(_) => {}
                // The page was unloaded during the evaluation; it is repeated on the next one.
                Err(BrowserError::Refused { .. } | BrowserError::Threw(_)) => {}
                Err(error) => return Err(error),
            }
            let text = self.eval("`${location.href}\n${document.body?.innerText}`").await;
            seen = text.ok().and_then(|text| Some(text.as_str()?.to_owned())).unwrap_or_default();
        }
        Err(BrowserError::TooLong {
            what: condition.to_owned(),
            seen: format!("the page has:\n{seen}"),
        })
    }

    /// Waits until the page shows a text.
    pub async fn wait_for(&self, text: &str) -> Result<(), BrowserError> {
        self.wait_until(&format!("document.body.innerText.includes({})", json!(text))).await
    }

    /// The text that the page shows.
    pub async fn text(&self) -> Result<String, BrowserError> {
        let text = self.eval("document.body.innerText").await?;
        Ok(text.as_str().unwrap_or_default().to_owned())
    }

    /// Clicks on the middle of the first matching element with the mouse; it is an error if another element covers it.
    pub async fn click(&self, selector: &str) -> Result<(), BrowserError> {
        self.wait_until(&format!("document.querySelector({})", json!(selector))).await?;
        let script = format!(
            "(() => {{ const el = document.querySelector({}); \
             el.scrollIntoView({{ block: 'center', inline: 'nearest', behavior: 'instant' }}); \
             const box = el.getBoundingClientRect(); \
             const [x, y] = [box.left + box.width / 2, box.top + box.height / 2]; \
             const hit = document.elementFromPoint(x, y); \
             return {{ x, y, hit: el.contains(hit) || hit?.contains(el) || false, what: hit?.outerHTML?.slice(0, 120) }}; }})()",
            json!(selector)
        );
        let at = self.eval(&script).await?;
        if at["hit"] != true {
            let (selector, what) = (selector.to_owned(), format!("covered by {}", at["what"]));
            return Err(BrowserError::Element { selector, what });
        }
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let pressed = if kind == "mouseMoved" { "none" } else { "left" };
            let event = json!({ "type": kind, "x": at["x"], "y": at["y"], "button": pressed, "clickCount": 1 });
            self.ask("Input.dispatchMouseEvent", event).await?;
        }
        Ok(())
    }

    /// Clicks into a field and types a text.
    pub async fn fill(&self, selector: &str, text: &str) -> Result<(), BrowserError> {
        self.click(selector).await?;
        self.type_text(text).await
    }

    /// Types a text into the focused element.
    pub async fn type_text(&self, text: &str) -> Result<(), BrowserError> {
        self.ask("Input.insertText", json!({ "text": text })).await?;
        Ok(())
    }

    /// Presses a key by its name in a browser: `a`, `Enter`, `Escape`, `ArrowLeft`.
    pub async fn key(&self, key: &str) -> Result<(), BrowserError> {
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "Tab" => 9,
            "End" => 35,
            "Home" => 36,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            _ => 0,
        };
        let text = match key {
            "Enter" => "\r",
            key if key.chars().count() == 1 => key,
            _ => "",
        };
        let mut event =
            json!({ "type": "keyDown", "key": key, "windowsVirtualKeyCode": code, "code": key });
        if !text.is_empty() {
            event["text"] = json!(text);
        }
        self.ask("Input.dispatchKeyEvent", event).await?;
        let event = json!({ "type": "keyUp", "key": key, "windowsVirtualKeyCode": code });
        self.ask("Input.dispatchKeyEvent", event).await?;
        Ok(())
    }

    /// Sets the size of the window; a narrow one emulates a phone.
    pub async fn size(&self, width: u32, height: u32) -> Result<(), BrowserError> {
        let phone = width < 600;
        let metrics =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone });
        self.ask("Emulation.setDeviceMetricsOverride", metrics).await?;
        let touch = json!({ "enabled": phone });
        self.ask("Emulation.setTouchEmulationEnabled", touch).await?;
        Ok(())
    }

    /// Sets the preferred colour scheme, and reduced motion.
    pub async fn theme(&self, dark: bool) -> Result<(), BrowserError> {
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([
            { "name": "prefers-color-scheme", "value": scheme },
            { "name": "prefers-reduced-motion", "value": "reduce" },
        ]);
        self.ask("Emulation.setEmulatedMedia", json!({ "features": features })).await?;
        Ok(())
    }

    /// A screenshot of the window at this size and theme, as PNG.
    pub async fn screenshot(
        &self,
        width: u32,
        height: u32,
        dark: bool,
    ) -> Result<Vec<u8>, BrowserError> {
        self.size(width, height).await?;
        self.theme(dark).await?;
        let drawn = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))";
        self.eval(drawn).await?;
        let picture = self.ask("Page.captureScreenshot", json!({ "format": "png" })).await?;
        let bytes = STANDARD.decode(picture["data"].as_str().unwrap_or_default());
        bytes.map_err(|error| BrowserError::Left(error.to_string()))
    }

    /// Sets headers for all requests of this tab.
    pub async fn set_headers(&self, headers: &Value) -> Result<(), BrowserError> {
        self.ask("Network.setExtraHTTPHeaders", json!({ "headers": headers })).await?;
        Ok(())
    }

    /// Sets a cookie for an address.
    pub async fn set_cookie(&self, url: &str, name: &str, value: &str) -> Result<(), BrowserError> {
        let cookie = json!({ "url": url, "name": name, "value": value });
        self.ask("Network.setCookie", cookie).await?;
        Ok(())
    }

    /// The cookies that would be sent to an address.
    pub async fn cookies(&self, url: &str) -> Result<Vec<Value>, BrowserError> {
        let mut answer = self.ask("Network.getCookies", json!({ "urls": [url] })).await?;
        Ok(answer["cookies"].as_array_mut().map(std::mem::take).unwrap_or_default())
    }

    /// Takes all errors since the last call.
    pub fn complaints(&self) -> Vec<String> {
        std::mem::take(&mut *self.complaints.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn listen(
    mut events: tokio::sync::broadcast::Receiver<Arc<Value>>,
    session: String,
    complaints: Complaints,
) {
    loop {
        let event = match events.recv().await {
            Ok(event) => event,
            Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        if event["sessionId"] != session {
            continue;
        }
        if let Some(complaint) = complaint(&event) {
            complaints.lock().unwrap_or_else(PoisonError::into_inner).push(complaint);
        }
    }
}

/// The error that an event reports, if any.
fn complaint(event: &Value) -> Option<String> {
    let params = &event["params"];
    match event["method"].as_str()? {
        "Runtime.exceptionThrown" => Some(format!("thrown: {}", params["exceptionDetails"])),
        "Runtime.consoleAPICalled" if params["type"] == "error" => {
            Some(format!("console: {}", params["args"]))
        }
        "Log.entryAdded" if params["entry"]["level"] == "error" => {
            let entry = &params["entry"];
            Some(format!("{}: {} {}", entry["source"], entry["text"], entry["url"]))
        }
        "Page.javascriptDialogOpening" => Some(format!("dialog: {}", params["message"])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_went_wrong_is_a_complaint() {
        let entry = |level| {
            let entry = json!({ "level": level, "source": "security", "text": "Refused" });
            json!({ "method": "Log.entryAdded", "params": { "entry": entry } })
        };
        assert!(complaint(&entry("error")).is_some_and(|text| text.contains("Refused")));
        assert_eq!(complaint(&entry("warning")), None);
        assert_eq!(complaint(&json!({ "method": "Page.loadEventFired" })), None);
        let dialog =
            json!({ "method": "Page.javascriptDialogOpening", "params": { "message": "1" } });
        assert!(complaint(&dialog).is_some());
    }
}

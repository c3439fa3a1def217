//! The page in a real Chromium, logged in by a link or a token and driven as a user would. Every error on the console
//! and every violation of the content security policy fails the test.

use testkit::browser::{Browser, Page};

use crate::served::{Api, Served};

/// Whether Chromium is installed. In CI, its absence is a failure.
#[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
pub(crate) fn can_be_had() -> bool {
    let there = Browser::is_installed();
    if !there {
        let must = std::env::var("CI").is_ok_and(|ci| ci == "true");
        assert!(!must, "Chromium is missing, and this test needs it");
        eprintln!("SKIPPED: Chromium is missing; the page was NOT tested. Install chromium.");
    }
    there
}

/// A browser that shows the page.
pub(crate) struct Looked {
    pub(crate) page: Page,
    pub(crate) url: String,
    _browser: Option<Browser>,
}

impl Looked {
    /// A browser that opened the server's login link.
    pub(crate) async fn by_link(served: &Served) -> Self {
        let browser = Browser::start().await.expect("a browser");
        let page = browser.page().await.expect("a tab");
        page.open(&served.link).await.expect("the page");
        page.click("form button").await.expect("the question is confirmed");
        let looked = Self { page, url: served.url().to_owned(), _browser: Some(browser) };
        looked.until("location.search === ''").await;
        looked.until("document.querySelector('.connection.live')").await;
        looked
    }

    /// A tab of another user, logged in by typing a token.
    pub(crate) async fn by_token(browser: &Browser, served: &Served, api: &Api) -> Self {
        let page = browser.page().await.expect("a tab");
        page.open(served.url()).await.expect("the page");
        let looked = Self { page, url: served.url().to_owned(), _browser: None };
        // The page that asks for a token is a 401 response, which the console reports.
        looked.page.complaints();
        looked.fill("#token", api.client.token().expect("a token")).await;
        looked.press("Enter").await;
        looked.until("document.querySelector('.connection.live')").await;
        looked
    }

    /// Opens a path of the page.
    pub(crate) async fn go(&self, path: &str) {
        self.page.open(&format!("{}{path}", self.url)).await.expect("an address");
        self.until("document.querySelector('.connection.live')").await;
    }

    pub(crate) async fn until(&self, condition: &str) {
        let held = self.page.wait_until(condition).await;
        held.unwrap_or_else(|error| panic!("{error}\n{:?}", self.page.complaints()));
    }

    /// Waits until the page shows a text.
    pub(crate) async fn sees(&self, text: &str) {
        let seen = self.page.wait_for(text).await;
        seen.unwrap_or_else(|error| panic!("{error}\n{:?}", self.page.complaints()));
    }

    pub(crate) async fn click(&self, selector: &str) {
        self.page.click(selector).await.unwrap_or_else(|error| panic!("{error}"));
    }

    /// Clicks on the first button or link with this text.
    pub(crate) async fn click_on(&self, text: &str) {
        let mark = format!(
            "(() => {{ const all = [...document.querySelectorAll('dialog[open] button, #main button, #main a')]; \
             const top = document.querySelector('dialog[open]'); \
             const found = all.find((one) => (!top || top.contains(one)) && !one.disabled && one.textContent.trim().includes({text:?})); \
             document.querySelectorAll('[data-test]').forEach((one) => one.removeAttribute('data-test')); \
             found?.setAttribute('data-test', ''); return Boolean(found); }})()"
        );
        self.until(&mark).await;
        self.click("[data-test]").await;
    }

    pub(crate) async fn fill(&self, selector: &str, text: &str) {
        self.page.fill(selector, text).await.unwrap_or_else(|error| panic!("{error}"));
    }

    pub(crate) async fn press(&self, key: &str) {
        self.page.key(key).await.expect("a key");
    }

    pub(crate) async fn eval(&self, script: &str) -> serde_json::Value {
        self.page.eval(script).await.unwrap_or_else(|error| panic!("{script}: {error}"))
    }

    /// Asserts that the page reported no errors.
    pub(crate) fn is_quiet(&self) {
        let complaints = self.page.complaints();
        assert!(complaints.is_empty(), "{complaints:#?}");
    }
}

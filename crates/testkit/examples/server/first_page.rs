//! The first page: the bytes of its document and of everything that it loads before the first API request, and the time
//! until a real browser shows it, if one is installed.

use std::collections::BTreeSet;

use anyhow::{Context as _, ensure};
use testkit::browser::Browser;
use testkit::client::Client;
use testkit::served::{Served, Site};

use super::{Figures, percentile};

/// The size limit, in kB.
const BYTES: f64 = 100.0;
/// The time limit until it is shown, in milliseconds.
const SHOWN: f64 = 200.0;

/// The time when the inbox replaces its placeholder, in milliseconds since the start of the navigation.
const SHOWS: &str = "new Promise((done) => { const look = () => \
    document.querySelector('#main .skeleton') ? requestAnimationFrame(look) : done(performance.now()); look(); })";

/// The number of first visits.
const VISITS: usize = 5;

/// The time of the first contentful paint.
const PAINT: &str = "new Promise((done) => { const look = () => { \
    const [paint] = performance.getEntriesByName('first-contentful-paint'); \
    paint ? done(paint.startTime) : requestAnimationFrame(look); }; look(); })";

/// Waits until the browser is idle: for a new visitor's tab it starts processes and opens stores for some time.
const REST: &str = "new Promise((done) => setTimeout(done, 1000))";

pub(super) async fn measure(
    site: &Site,
    served: &Served,
    figures: &mut Figures,
) -> anyhow::Result<()> {
    if Browser::is_installed() {
        let browser = Browser::start().await?;
        let url = format!("http://{}", served.address());
        let (mut bare, mut painted, mut shown) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..VISITS {
            let printed = site.run(&["user", "link", "--url", &url]).await?;
            let link = printed.split_whitespace().find(|word| word.starts_with("http"));
            let page = browser.page().await?;
            // The browser starts processes for every new tab's site, regardless of the response; that time is not the
            // server's.
            page.open(&format!("{url}/page/theme.js")).await?;
            bare.push(page.eval(PAINT).await?.as_f64().context("a first paint")?);
            page.eval(REST).await?;
            page.open(link.context("a link")?).await?;
            shown.push(page.eval(SHOWS).await?.as_f64().context("a time")?);
            painted.push(page.eval(PAINT).await?.as_f64().context("a first paint")?);
        }
        let bare = percentile(&mut bare, 0.5)?;
        figures.show("a short text in a new tab, first paint, median of five", bare, "ms");
        let first = percentile(&mut painted, 0.5)?;
        figures.judge("first page in that tab, first paint, median of five", first, "ms", SHOWN);
        let whole = percentile(&mut shown, 0.5)?;
        figures.show("first page, inbox in place, median of five visitors", whole, "ms");
    } else {
        println!(
            "SKIPPED: no Chromium is installed; when the first page is shown was NOT measured"
        );
    }
    let (files, bytes) = loaded(&served.client()).await?;
    let what = format!("first page, {files} files");
    figures.judge(&what, bytes as f64 / 1_000.0, "kB", BYTES);
    Ok(())
}

/// The number of files that the page loads at first, and their bytes.
async fn loaded(client: &Client) -> anyhow::Result<(usize, usize)> {
    let mut seen = BTreeSet::from(["/page/index.html".to_owned()]);
    let mut open: Vec<String> = seen.iter().cloned().collect();
    let mut bytes = 0;
    while let Some(path) = open.pop() {
        let reply = client.get(&path).await?;
        ensure!(reply.status == 200, "{path} answers {}", reply.status);
        bytes += reply.body.len();
        for named in references(&path, &reply.text()) {
            if seen.insert(named.clone()) {
                open.push(named);
            }
        }
    }
    ensure!(seen.len() > 5, "the page names its files in another way: {seen:?}");
    Ok((seen.len(), bytes))
}

/// The files that a file loads by itself: the references of a document, and the static imports of a module.
fn references(path: &str, text: &str) -> Vec<String> {
    let openings: &[&str] = match path.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => &["src=\"", "href=\""],
        "js" => &[" from \"", "import \""],
        _ => &[],
    };
    let after = openings.iter().flat_map(|opening| text.split(opening).skip(1));
    let named = after.filter_map(|rest| rest.split('"').next());
    named.filter_map(|name| resolved(path, name)).collect()
}

/// The address of a referenced file, if it belongs to the page.
fn resolved(from: &str, name: &str) -> Option<String> {
    if name.starts_with("/page/") {
        return Some(name.to_owned());
    }
    let mut folder: Vec<&str> = from.split('/').collect();
    folder.pop();
    let mut name = name;
    if let Some(rest) = name.strip_prefix("./") {
        name = rest;
    } else {
        while let Some(rest) = name.strip_prefix("../") {
            folder.pop();
            name = rest;
        }
    }
    name.ends_with(".js").then(|| format!("{}/{name}", folder.join("/")))
}

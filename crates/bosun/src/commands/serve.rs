//! `bosun serve`: an API, live streams and a web page for the runs of this home. Prints its address with a link that
//! logs one browser in, and parks all runs when it is stopped.

mod factory;

use std::path::Path;
use std::sync::Arc;

use runtime::sandbox::Repo;
use runtime::{Clock as _, Order, RealClock};
use server::{Access, OWNER, Project, Server, ServerConfig, Webhook, most_connections};
use tokio_util::sync::CancellationToken;

use crate::args;
use crate::exit::{CliError, Exit};
use crate::follow::signal;
use crate::home::Home;
use crate::models;
use crate::print;
use factory::MachineFactory;

pub(crate) async fn serve(home: &Home, args: args::Serve) -> anyhow::Result<Exit> {
    let bosun = home.open(Order::Arrival).await?;
    let folder = home.folder()?;
    let access = Arc::new(Access::open(&folder)?);
    let factory = Arc::new(MachineFactory::new(home.clone(), bosun.clone()));
    let server = Server::bind(ServerConfig {
        bosun,
        factory,
        access: access.clone(),
        home: folder,
        listen: args.listen,
        hosts: args.hosts,
        tls: args.tls_cert.zip(args.tls_key),
        behind_proxy: args.behind_proxy,
        resume: !args.no_resume,
        rate: args.rate,
        connections: most_connections(),
        webhook: args.webhook.map(webhook).transpose()?,
        version: env!("CARGO_PKG_VERSION"),
    })
    .await?;
    name_this_repository(&access).await?;
    let code = access.link(OWNER, RealClock.now())?;
    print::line(&format!("{}/?token={code}", server.url()))?;
    let url = server.url();
    print::note(&format!(
        "open this link; it works once. For another: bosun user link --url {url}. Ctrl-C to stop"
    ));
    let stop = CancellationToken::new();
    tokio::spawn(told_to_stop(stop.clone()));
    server.run(stop).await?;
    print::note("all runs are suspended; the next start resumes them");
    Ok(Exit::Done)
}

/// Target of notifications. A secret is required, because unsigned notifications could be forged.
fn webhook(url: String) -> anyhow::Result<Webhook> {
    models::must_be_an_address("--webhook", &url)?;
    let secret = std::env::var("BOSUN_WEBHOOK_SECRET").unwrap_or_default();
    if secret.is_empty() {
        return Err(CliError::NoWebhookSecret.into());
    }
    Ok(Webhook { url, secret })
}

/// Registers the repository of the current folder if there is no project yet.
async fn name_this_repository(access: &Access) -> anyhow::Result<()> {
    if !access.projects()?.is_empty() {
        return Ok(());
    }
    let Ok(here) = std::env::current_dir() else { return Ok(()) };
    let Ok(repo) = Repo::discover(&here).await else {
        print::note("no project yet; add one: bosun project add NAME DIR");
        return Ok(());
    };
    let name = name_of(repo.root());
    access.add_project(&Project { name: name.clone(), path: repo.root().to_owned() })?;
    print::note(&format!("added {} as project {name}", print::path(repo.root())));
    Ok(())
}

/// Project name for a folder.
fn name_of(folder: &Path) -> String {
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned());
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = name.unwrap_or_default().chars().map(plain).take(40).collect();
    match name.trim_start_matches('.') {
        "" => "project".to_owned(),
        name => name.to_owned(),
    }
}

/// Cancels the token at the first SIGINT or SIGTERM.
async fn told_to_stop(stop: CancellationToken) {
    if signal().await.is_ok() {
        stop.cancel();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gives_a_project_a_plain_name() {
        assert_eq!(name_of(Path::new("/w/shop")), "shop");
        assert_eq!(name_of(Path::new("/w/.my shop ☃")), "my-shop--");
        assert_eq!(name_of(Path::new("/")), "project");
    }
}

//! The terminal program: parses the command line, runs one command, and returns its exit code.

mod args;
mod chat;
mod cli_error;
mod commands;
mod config;
mod confirm;
mod conversation;
mod driven;
mod exit;
mod files;
mod follow;
mod home;
mod models;
mod print;
mod recorded;
mod routing_input;
mod rules;
mod secrets;
mod sessions;

use std::ffi::OsString;
use std::process::ExitCode;

use args::{Cli, Command};
use clap::Parser as _;
use runtime::sandbox::HelperExe;

fn main() -> ExitCode {
    // Before anything else: this process may be the one that builds a sandbox.
    let helper_exe = HelperExe::enter();
    // Must run before a key is loaded into memory.
    let closed = runtime::sandbox::close_memory();
    runtime::sandbox::narrow_umask();
    // Before an agent can change what its folders contain.
    runtime::sandbox::judge_path();
    let words: Vec<OsString> = std::env::args_os().collect();
    let as_json = args::wants_json(&words);
    args::Color::of(&words).set();
    let cli = match Cli::try_parse_from(&words) {
        Ok(cli) => cli.with_environment(|name| std::env::var_os(name)),
        Err(error) => return misread(&error, as_json),
    };
    print::say(cli.quiet, cli.verbose);
    follow::silence(cli.no_notify);
    start_log(cli.verbose, &cli.command);
    if let Err(error) = closed {
        tracing::warn!(%error, "other processes of this user can read the memory of this one");
    }
    let done = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(anyhow::Error::from)
        .and_then(|runtime| runtime.block_on(perform(cli, helper_exe)));
    match done {
        Ok(exit) => exit.code(),
        // The reader has what it wanted, as in `bosun models | head`.
        Err(error) if print::is_closed_pipe(&error) => exit::Exit::Done.code(),
        Err(error) => {
            let exit = exit::of_error(&error);
            print::error(&error, exit::advice(&error), as_json.then_some(exit));
            exit.code()
        }
    }
}

/// Prints a usage error or the requested help, and returns the exit code.
fn misread(error: &clap::Error, as_json: bool) -> ExitCode {
    if as_json && error.use_stderr() {
        let told = error.render().to_string();
        let first = told.lines().next().unwrap_or_default();
        let message = first.strip_prefix("error: ").unwrap_or(first);
        print::error_line(message, Some("see `bosun help`"), exit::Exit::Usage);
        return exit::Exit::Usage.code();
    }
    // A print error means that the stream is closed; nothing left to report to.
    let _unread = error.print();
    if error.use_stderr() { exit::Exit::Usage.code() } else { exit::Exit::Done.code() }
}

/// Starts the program's own log on standard error.
fn start_log(verbose: u8, command: &Command) {
    let serves = matches!(command, Command::Serve(_));
    let level = match verbose {
        0 if !serves => "error",
        0 | 1 => "info",
        _ => "debug",
    };
    let said = std::env::var("BOSUN_LOG").unwrap_or_default();
    let said = if said.is_empty() { level } else { said.as_str() };
    let stderr = anstream::AutoStream::choice(&std::io::stderr());
    let coloured = stderr != anstream::ColorChoice::Never;
    let log = tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(said))
        .with_ansi(coloured)
        .with_writer(std::io::stderr);
    match command {
        Command::Serve(args) if args.log == args::LogFormat::Json => log.json().init(),
        _ => log.init(),
    }
}

async fn perform(cli: Cli, helper_exe: HelperExe) -> anyhow::Result<exit::Exit> {
    let home = home::Home::at(cli.home, cli.no_project, helper_exe.clone());
    let done = match cli.command {
        Command::Demo(args) => commands::demo::demo(&home, &args).await,
        Command::Run(args) => Box::pin(commands::run::run(&home, args)).await,
        Command::Plan(args) => Box::pin(commands::run::plan_only(&home, args)).await,
        Command::Spec(args) => commands::spec::spec(&args),
        Command::Chat(args) => Box::pin(commands::chat::chat(&home, args)).await,
        Command::Rewind(args) => commands::rewind::rewind(&home, args).await,
        Command::Resume(args) => commands::resume::resume(&home, args).await,
        Command::Answer(args) => commands::answer::answer(&home, args).await,
        Command::Questions(args) => commands::answer::questions(&home, &args).await,
        Command::Stats(args) => commands::stats::stats(&home, &args).await,
        Command::Watch(args) => commands::watch::watch(&home, args).await,
        Command::Top(args) => commands::watch::top(&home, &args).await,
        Command::Serve(args) => Box::pin(commands::serve::serve(&home, args)).await,
        Command::User(args) => commands::user::user(&home, args),
        Command::Project(args) => Box::pin(commands::user::project(&home, args)).await,
        Command::Cancel(args) => commands::cancel::cancel(&home, args).await,
        Command::Diff(args) => commands::diff::diff(&home, args).await,
        Command::Transcript(args) => commands::transcript::transcript(&home, args).await,
        Command::Review(args) => Box::pin(commands::review::review(&home, args)).await,
        Command::Pr(args) => commands::pr::pr(&home, args).await,
        Command::Accept(args) => commands::settle::accept(&home, args).await,
        Command::Discard(args) => commands::settle::discard(&home, args).await,
        Command::List(args) => commands::list::list(&home, &args).await,
        Command::Gc(args) => commands::gc::gc(&home, &args).await,
        Command::Show(args) => commands::show::show(&home, args).await,
        Command::Log(args) => commands::log::log(&home, args).await,
        Command::Backup(args) => commands::backup::backup(&home, args).await,
        Command::Restore(args) => commands::backup::restore(&home, args).await,
        Command::Prove(args) => Box::pin(commands::prove::prove(&home, args)).await,
        Command::Replay(args) => commands::replay::replay(&home, args).await,
        Command::Fork(args) => Box::pin(commands::replay::fork(&home, args)).await,
        Command::Audit(args) => Box::pin(commands::audit::audit(&home, args)).await,
        Command::Why(args) => commands::why::why(&home, args).await,
        Command::Policy(args) => commands::policy::policy(&args),
        Command::Init(args) => commands::init::init(&home, &args).await,
        Command::Config(args) => commands::config::config(&home, &args),
        Command::Trust(args) => commands::config::trust(&home, &args),
        Command::Schema(args) => commands::config::schema(&args),
        Command::Ask(args) => commands::ask::ask(args).await,
        Command::Models(args) => commands::models::models(&args).await,
        Command::Permit(args) => commands::permit::permit(&args),
        Command::Route(args) => commands::route::route(&args).await,
        Command::Tools(args) => commands::tool::tools(&args),
        Command::Tool(args) => commands::tool::tool(&home, helper_exe, &args).await,
        Command::Doctor(args) => commands::doctor::doctor(&home, helper_exe, &args).await,
        Command::Completions(args) => commands::manual::completions(&args),
        Command::Man(args) => commands::manual::man(&args),
    };
    home.leave().await;
    done
}

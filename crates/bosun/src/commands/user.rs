//! `bosun user` and `bosun project`: the users and the projects of the server. A running server sees changes at once.

use anyhow::Context as _;
use runtime::sandbox::Repo;
use runtime::{Clock as _, RealClock};
use server::{Access, Project, User};

use crate::args::{self, ProjectCommand, UserCommand};
use crate::exit::Exit;
use crate::home::Home;
use crate::print;

pub(crate) fn user(home: &Home, args: args::User) -> anyhow::Result<Exit> {
    let access = Access::open(&home.folder()?)?;
    let now = RealClock.now();
    match args.command {
        UserCommand::Add { name, role, projects } => {
            let projects = (!projects.is_empty()).then_some(projects);
            let user = User { name, role: role.into(), projects };
            let token = access.add_user(&user, now)?;
            print::line(&token)?;
            print::note("the token is shown only once; send it as Authorization: Bearer TOKEN");
        }
        UserCommand::Link { name, url } => {
            let code = access.link(&name, now)?;
            print::line(&format!("{}/?token={code}", url.trim_end_matches('/')))?;
            print::note("the link logs in one browser, once, within the next 15 minutes");
        }
        UserCommand::List { json } => {
            for user in access.users()? {
                let projects = match &user.projects {
                    None => "all projects".to_owned(),
                    Some(names) => names.join(", "),
                };
                let said = format!("{:<20} {:<9} {projects}\n", user.name, user.role.as_str());
                print::result(json, &user, &said)?;
            }
        }
        UserCommand::Remove { name } => {
            access.remove_user(&name)?;
            print::note(&format!("{name} no longer has access"));
        }
    }
    Ok(Exit::Done)
}

pub(crate) async fn project(home: &Home, args: args::Project) -> anyhow::Result<Exit> {
    let access = Access::open(&home.folder()?)?;
    match args.command {
        ProjectCommand::Add { name, path } => {
            let path = std::path::absolute(&path).context("finding the folder")?;
            let repo = Repo::discover(&path).await?;
            access.add_project(&Project { name: name.clone(), path: repo.root().to_owned() })?;
            print::note(&format!("added project {name}: {}", print::path(repo.root())));
        }
        ProjectCommand::List { json } => {
            for project in access.projects()? {
                let said = format!("{:<20} {}\n", project.name, print::path(&project.path));
                print::result(json, &project, &said)?;
            }
        }
        ProjectCommand::Remove { name } => {
            access.remove_project(&name)?;
            print::note(&format!("removed project {name}; its repository and runs are unchanged"));
        }
    }
    Ok(Exit::Done)
}

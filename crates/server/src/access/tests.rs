//! Users, tokens, links and cookies, also across processes.

use super::*;

fn at(minutes: i64) -> Timestamp {
    Timestamp::from_millis(minutes * MINUTE_MS)
}

fn opened() -> (tempfile::TempDir, Access) {
    let home = tempfile::tempdir().expect("a folder");
    let access = Access::open(home.path()).expect("no users yet");
    (home, access)
}

#[test]
fn a_token_is_stored_as_a_digest_and_revoked_with_its_user() {
    let (home, access) = opened();
    let user = User { name: "ann".into(), role: Role::Operator, projects: None };
    let token = access.add_user(&user, at(0)).expect("a new user");
    let text = std::fs::read_to_string(home.path().join("access.toml")).expect("a file");
    assert!(!text.contains(&token), "only its digest is stored");
    let known = access.by_token(&token).expect("it is read").expect("it is known");
    assert_eq!(known.user, user);
    assert!(access.by_token("").expect("it is read").is_none());
    assert!(matches!(access.add_user(&user, at(0)), Err(AccessError::Taken { .. })));
    // Another process removes the user.
    Access::open(home.path()).expect("the same").remove_user("ann").expect("it is there");
    assert!(access.by_token(&token).expect("it is read").is_none());
}

/// Neither a stream nor an idempotency key of a removed user serves the next one of that name, whatever the clock says.
#[test]
fn a_new_user_of_the_same_name_is_another_one() {
    let (_home, access) = opened();
    let user = User { name: "ann".into(), role: Role::Operator, projects: None };
    let add = || {
        let token = access.add_user(&user, at(0)).expect("a new user");
        access.by_token(&token).expect("it is read").expect("it is known")
    };
    let first = add();
    assert!(access.knows(&first));
    access.remove_user("ann").expect("it is there");
    let second = add();
    assert!(access.knows(&second) && !access.knows(&first));
    assert_ne!(first.account, second.account);
    let cookie = |minutes: i64| {
        let code = access.link("owner", at(minutes)).expect("a link");
        let cookie = access.log_in(&code, at(minutes)).expect("it is read").expect("a cookie");
        access.by_cookie(&cookie, at(minutes)).expect("it is read").expect("it is known")
    };
    let owner = cookie(1);
    assert_eq!(owner.account, cookie(2).account, "another login of the same user");
    access.remove_user("owner").expect("it is there");
    assert_ne!(owner.account, cookie(3).account);
}

#[test]
fn a_link_logs_in_once_and_not_for_ever() {
    let (home, access) = opened();
    let code = access.link("owner", at(0)).expect("a link");
    assert!(access.log_in("wrong", at(1)).expect("it is read").is_none());
    let cookie = access.log_in(&code, at(1)).expect("it is read").expect("a cookie");
    assert!(access.log_in(&code, at(1)).expect("it is read").is_none(), "once");
    let late = access.link("owner", at(0)).expect("a link");
    assert!(access.log_in(&late, at(16)).expect("it is read").is_none(), "soon");
    let again = Access::open(home.path()).expect("after a restart");
    let caller = again.by_cookie(&cookie, at(2)).expect("it is read").expect("it is known");
    assert_eq!((caller.user.name.as_str(), caller.user.role), ("owner", Role::Admin));
    assert!(again.by_token(&cookie).expect("it is read").is_none(), "a cookie is no token");
    assert!(again.by_cookie(&cookie, at(31 * 24 * 60)).expect("it is read").is_none());
    again.log_out(&cookie).expect("it is written");
    assert!(access.by_cookie(&cookie, at(2)).expect("it is read").is_none());
}

#[test]
fn a_link_for_an_unknown_user_creates_nobody() {
    let (_home, access) = opened();
    assert!(matches!(access.link("bob", at(0)), Err(AccessError::Unknown { .. })));
    assert_eq!(access.users().expect("they are read").len(), 0);
}

#[test]
fn names_and_projects_are_checked() {
    let (_home, access) = opened();
    for name in ["", "a b", "../x", ".hidden", "ä", &"x".repeat(41)] {
        assert!(matches!(access.link(name, at(0)), Err(AccessError::Name { .. })), "{name:?}");
    }
    let of = |name: &str| User {
        name: name.into(),
        role: Role::Viewer,
        projects: Some(vec!["shop".into()]),
    };
    assert!(matches!(access.add_user(&of("ben"), at(0)), Err(AccessError::Unknown { .. })));
    let shop = Project { name: "shop".into(), path: "/w/shop".into() };
    access.add_project(&shop).expect("a new project");
    access.add_user(&of("ben"), at(0)).expect("a new user");
    access.remove_project("shop").expect("it is there");
    assert!(matches!(access.remove_project("shop"), Err(AccessError::Unknown { .. })));
}

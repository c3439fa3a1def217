//! Which hosts are granted, and which addresses are unsafe regardless of grants.

use super::*;

fn hosts(list: &[&str]) -> Hosts {
    Hosts::parse(list).expect("a list of hosts")
}

/// C44, C58: only named hosts are reachable, and names must match in full.
#[test]
fn only_what_is_named_is_granted() {
    let hosts = hosts(&["Example.org", "*.crates.io", "192.0.32.8", "[2606:4700::1]"]);
    for good in [
        "example.org",
        "EXAMPLE.ORG.",
        "static.crates.io",
        "a.b.crates.io",
        "192.0.32.8",
        "2606:4700:0::1",
    ] {
        assert!(hosts.permits(good), "{good}");
    }
    for bad in [
        "example.org.evil.com",
        "evilexample.org",
        "www.example.org",
        "crates.io",
        ".crates.io",
        "xcrates.io",
        "example.org\0.evil.com",
        "example.org@evil.com",
        "example.org:80",
        "example.org/",
        "exаmple.org",
        "192.0.32.9",
        "192.0.8200",
        "",
        ".",
        "*",
    ] {
        assert!(!hosts.permits(bad), "{bad}");
    }
    assert!(!Hosts::default().permits("example.org"));
}

#[test]
fn the_package_registries_are_one_name_and_a_list_can_grow() {
    let some = hosts(&["registries"]);
    assert!(some.permits("static.crates.io") && some.permits("registry.npmjs.org"));
    assert!(!some.permits("registries") && !some.permits("example.org"));
    let more = some.with(["example.org"]).expect("hosts");
    assert!(more.permits("example.org") && more.permits("pypi.org"));
    assert!(more.with(["*"]).is_err());
}

#[test]
fn a_list_that_grants_everything_is_refused_when_it_is_read() {
    for everything in ["*", " * ", "*.", "*.com"] {
        assert!(Hosts::parse([everything]).is_err(), "{everything:?}");
    }
    for wrong in [
        "https://example.org",
        "example.org:443",
        "a b",
        "-x.org",
        "127.1",
        "0x7f.1",
        "2130706433",
        "x.0x7",
    ] {
        let refused = Hosts::parse([wrong]);
        assert!(matches!(refused, Err(BadHost::NotAHost { .. })), "{wrong:?}: {refused:?}");
    }
}

#[test]
fn addresses_that_are_not_public_are_not_safe() {
    let hosts = Hosts::default();
    for bad in [
        "127.0.0.1",
        "127.9.9.9",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.100.100.200",
        "0.0.0.0",
        "0.1.2.3",
        "192.0.0.192",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "2002:7f00:1::",
        "2001:0:1::1",
        "fec0::1",
        "100::1",
    ] {
        assert!(!hosts.safe_address(bad.parse().expect("an address")), "{bad}");
    }
    for good in [
        "1.1.1.1",
        "93.184.215.14",
        "172.32.0.1",
        "100.63.0.1",
        "2606:4700::1111",
        "64:ff9b::101:101",
    ] {
        assert!(hosts.safe_address(good.parse().expect("an address")), "{good}");
    }
    let private = Hosts::default().allow_private();
    for (address, safe) in [
        ("127.0.0.1", true),
        ("::1", true),
        ("10.1.1.1", true),
        ("169.254.169.254", false),
        ("fe80::1", false),
        ("64:ff9b::7f00:1", false),
        ("fd00:ec2::254", false),
    ] {
        assert_eq!(private.safe_address(address.parse().expect("an address")), safe, "{address}");
    }
}

#[tokio::test]
async fn a_granted_name_that_leads_home_is_refused() {
    let address = |text: &str| text.parse::<IpAddr>().expect("an address");
    let list = hosts(&["api.test", "127.0.0.1"]);
    let rebound = list
        .clone()
        .resolve("api.test", address("1.1.1.1"))
        .resolve("API.test", address("127.0.0.1"));
    assert!(matches!(rebound.addresses("api.test", 80).await, Err(HostRefused::NotPublic { .. })));
    assert!(matches!(list.addresses("127.0.0.1", 80).await, Err(HostRefused::NotPublic { .. })));
    assert!(matches!(list.addresses("other.test", 80).await, Err(HostRefused::NotGranted { .. })));
    let local = list.allow_private().resolve("api.test", address("127.0.0.1"));
    let found = local.addresses("api.test", 8080).await.expect("an address");
    assert_eq!(found, ["127.0.0.1:8080".parse().expect("an address")]);
}

//! Tests of the operator's name, logo and addresses.

use super::ConfigFixture;

#[test]
fn a_logo_is_read_beside_the_file_that_names_it() {
    let brand = "[brand]\nname = \" Acme AI \"\nlogo = \"logo.svg\"\nsupport_email = \"help@example.com\"\n";
    let scene = ConfigFixture::with_config(brand).file("logo.svg", "<svg xmlns='x'/>");
    let brand = scene.config().brand;
    assert_eq!(
        (brand.name.as_str(), brand.support_email.as_deref()),
        ("Acme AI", Some("help@example.com"))
    );
    let logo = brand.logo.unwrap();
    assert_eq!(
        (logo.bytes.as_slice(), logo.content_type),
        (&b"<svg xmlns='x'/>"[..], "image/svg+xml")
    );
    let plain = ConfigFixture::empty().config().brand;
    assert_eq!((plain.name.as_str(), plain.logo), ("Tollgate", None));
}

/// Returns the faults with paths relative to the folder.
#[track_caller]
fn faults(scene: &ConfigFixture) -> String {
    scene.relative(&scene.read().unwrap_err())
}

#[test]
fn what_cannot_be_shown_is_a_fault_at_its_line() {
    let text = "[brand]\nname = \"\"\nlogo = \"missing.png\"\nsupport_email = \"help\"\n\
                terms_url = \"ftp://x\"\n";
    let found = faults(&ConfigFixture::with_config(text));
    for fault in [
        "tollgate.toml:2: `name` in [brand] must be text that is not empty",
        "tollgate.toml:3: `logo` in [brand]: cannot read missing.png: ",
        "tollgate.toml:4: `support_email` in [brand] must be an address such as help@example.com",
        "tollgate.toml:5: `terms_url`",
    ] {
        assert!(found.contains(fault), "{fault} is not among {found}");
    }
}

#[test]
fn a_logo_is_a_picture_of_some_size() {
    let text = "[brand]\nlogo = \"logo.txt\"\n";
    let other = faults(&ConfigFixture::with_config(text).file("logo.txt", "no picture"));
    assert!(other.contains("tollgate.toml:2: `logo` in [brand] must be a picture"), "{other}");
    let large = ConfigFixture::with_config(text).file("logo.txt", &"<svg>".repeat(60_000));
    let large = faults(&large);
    assert!(
        large.contains("tollgate.toml:2: `logo` in [brand]: logo.txt has more than 256 KiB"),
        "{large}"
    );
}

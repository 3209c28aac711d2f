//! The operator's own name, logo and addresses.

use expect_test::expect;

use super::Scene;

#[test]
fn a_logo_is_read_beside_the_file_that_names_it() {
    let brand = "[brand]\nname = \" Acme AI \"\nlogo = \"logo.svg\"\nsupport_email = \"help@example.com\"\n";
    let scene = Scene::with_config(brand).file("logo.svg", "<svg xmlns='x'/>");
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
    let plain = Scene::empty().config().brand;
    assert_eq!((plain.name.as_str(), plain.logo), ("Tollgate", None));
}

#[test]
fn what_cannot_be_shown_is_a_fault_at_its_line() {
    let text = "[brand]\nname = \"\"\nlogo = \"missing.png\"\nsupport_email = \"help\"\nterms_url = \"ftp://x\"\n";
    Scene::with_config(text).check_faults(&expect![[]]);
    let text = "[brand]\nlogo = \"logo.txt\"\n";
    let scene = Scene::with_config(text).file("logo.txt", "no picture");
    scene.check_faults(&expect![[]]);
    let large = "<svg>".repeat(60_000);
    Scene::with_config(text).file("logo.txt", &large).check_faults(&expect![[]]);
}

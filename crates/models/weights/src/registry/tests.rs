//! Tests of index links in all supported forms, and archives for other tests.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::*;
use crate::puller::build_client;

pub(crate) fn wheel(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (path, content) in files {
        writer.start_file(*path, SimpleFileOptions::default()).unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

pub(crate) fn tarball(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len().try_into().unwrap());
        header.set_mode(0o644);
        builder.append_data(&mut header, path, *content).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

#[track_caller]
fn check(page: &str, expected: Option<&str>) {
    assert_eq!(find_link(page, "a-1.whl").as_deref(), expected);
}

#[test]
fn a_link_is_found_in_json() {
    let page = r#"{"meta":{"api-version":"1.1"},"name":"a","files":[
        {"filename":"a-0.whl","url":"https://files/a-0.whl","hashes":{}},
        {"filename":"a-1.whl","url":"https://files/x/a-1.whl","hashes":{}}]}"#;
    check(page, Some("https://files/x/a-1.whl"));
    check(r#"{"files":[]}"#, None);
}

#[test]
fn a_link_is_found_in_html() {
    check(
        r##"<a href="../../x/a-1.whl#sha256=00">a-1.whl</a>"##,
        Some("../../x/a-1.whl#sha256=00"),
    );
    check("<a data-x='1' href='/x/a-1.whl?a=1&amp;b=2'>a</a>", Some("/x/a-1.whl?a=1&b=2"));
    check(r#"<a href="/x/ba-1.whl">b</a><a href="/x/a-1.whl.asc">s</a>"#, None);
    check("<a href=>", None);
    check("<a href=\"é", None);
}

#[test]
fn a_password_goes_to_the_index_own_files_only() {
    let index = Url::parse("https://me:secret@index.example/simple").unwrap();
    let own = Url::parse("https://index.example/files/a.whl").unwrap();
    let other = Url::parse("https://files.example/a.whl").unwrap();
    assert_eq!(with_login_of(&index, own).password(), Some("secret"));
    assert_eq!(with_login_of(&index, other).password(), None);
}

#[tokio::test]
async fn a_scoped_package_lies_where_npm_puts_it() {
    let npm = Some(Url::parse("https://npm.example/mirror/").unwrap());
    let registries = PackageRegistries { python: None, npm };
    let package = RegistryPackage {
        registry: PackageRegistry::Npm,
        name: "@lat.md/embed".to_owned(),
        version: "0.1.0".to_owned(),
        archive: "embed-0.1.0.tgz".to_owned(),
        bytes: 1,
        sha256: String::new(),
    };
    let client = build_client().unwrap();
    let located = registries.locate_package(&client, &package).await;
    let expected = "https://npm.example/mirror/@lat.md/embed/-/embed-0.1.0.tgz";
    assert_eq!(located.unwrap().as_str(), expected);
    let python = RegistryPackage { registry: PackageRegistry::Python, ..package };
    let Err(SourceError::Source(message)) = registries.locate_package(&client, &python).await
    else {
        panic!("there is no Python index");
    };
    assert_eq!(message, NO_PYTHON);
}

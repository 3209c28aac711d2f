//! Tests of valid, invalid and malicious archives.

use super::*;
use crate::registry::tests::{tarball, wheel};

#[track_caller]
fn check(name: &str, bytes: &[u8], path: &str, bytes_max: u64) -> Result<Vec<u8>, String> {
    let folder = tempfile::tempdir().unwrap();
    let archive = folder.path().join("archive");
    std::fs::write(&archive, bytes).unwrap();
    let to = folder.path().join("out");
    let wanted = ArchiveMember { path: path.to_owned(), to: to.clone(), bytes_max };
    match extract_members(&archive, name, &[wanted]) {
        Ok(()) => Ok(std::fs::read(to).unwrap()),
        Err(SourceError::Source(message)) => Err(message),
        Err(other) => panic!("{other:?}"),
    }
}

#[test]
fn one_file_is_taken_out_of_either_kind() {
    let files = [("a/x", b"first".as_slice()), ("a/y", b"second")];
    assert_eq!(check("n.whl", &wheel(&files), "a/y", 6).unwrap(), b"second");
    assert_eq!(check("n.tgz", &tarball(&files), "a/y", 6).unwrap(), b"second");
}

#[test]
fn a_file_that_is_not_inside_is_a_fault_of_the_archive() {
    let files = [("a/x", b"first".as_slice())];
    check("n.whl", &wheel(&files), "a/y", 6).unwrap_err();
    assert_eq!(check("n.tgz", &tarball(&files), "a/y", 6).unwrap_err(), "the tarball has no a/y");
}

#[test]
fn a_file_that_unpacks_to_more_than_it_should_is_stopped() {
    let bomb = vec![0; 1_000_000];
    let files = [("a/x", bomb.as_slice())];
    for (name, bytes) in [("n.whl", wheel(&files)), ("n.tgz", tarball(&files))] {
        let message = check(name, &bytes, "a/x", 1000).unwrap_err();
        assert_eq!(message, "a/x is longer than it should be");
    }
}

#[test]
fn damaged_archives_are_faults_and_nothing_worse() {
    let files = [("a/x", b"some content to be packed".as_slice())];
    for (name, whole) in [("n.whl", wheel(&files)), ("n.tgz", tarball(&files))] {
        for end in 0..whole.len() {
            if let Ok(content) = check(name, &whole[..end], "a/x", 100) {
                assert_eq!(content, files[0].1, "{name} cut at {end}");
            }
        }
        check(name, b"", "a/x", 100).unwrap_err();
    }
}

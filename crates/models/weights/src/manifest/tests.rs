//! Tests of the committed manifest for all platforms.

use std::collections::HashSet;
use std::path::{Component, Path};

use super::*;

/// The README's limit for default downloads.
const DEFAULT_BYTES_MAX: u64 = 500_000_000;

fn committed() -> ModelManifest {
    ModelManifest::parse(include_str!("../../manifest.toml")).unwrap()
}

#[test]
fn every_part_lies_in_an_archive_that_is_listed() {
    let manifest = committed();
    for file in manifest.models().flat_map(|model| &model.files) {
        assert!(!file.parts.is_empty(), "{} has no package", file.name);
        for part in &file.parts {
            assert!(
                manifest.find_package(&part.archive).is_some(),
                "{} is not listed",
                part.archive
            );
        }
    }
}

#[test]
fn names_of_files_stay_inside_their_folder() {
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_));
    for model in committed().models() {
        assert!(Path::new(&model.id).components().all(is_plain), "{}", model.id);
        for file in &model.files {
            assert!(Path::new(&file.name).components().all(is_plain), "{}", file.name);
        }
    }
}

#[test]
fn hashes_are_sha_256_in_lower_case() {
    let manifest = committed();
    let files = manifest.models().flat_map(|model| &model.files).map(|file| &file.sha256);
    for hash in files.chain(manifest.packages.iter().map(|package| &package.sha256)) {
        let is_hex = |letter: u8| letter.is_ascii_digit() || (b'a'..=b'f').contains(&letter);
        assert!(hash.len() == 64 && hash.bytes().all(is_hex), "{hash}");
    }
}

#[test]
fn ids_are_unique_and_needs_are_listed() {
    let manifest = committed();
    let mut ids = HashSet::new();
    for model in manifest.models() {
        assert!(ids.insert(&model.id), "{} is listed twice", model.id);
        for needed in &model.needs {
            assert!(manifest.find_model(needed).is_some(), "{} needs {needed}", model.id);
        }
    }
}

#[test]
fn the_default_set_is_small_and_complete() {
    for platform in ["linux-x86_64", "linux-aarch64", "macos-aarch64"] {
        let manifest = committed().for_platform(platform);
        let defaults: Vec<&ModelFiles> = manifest.models().filter(|model| model.default).collect();
        let bytes: u64 = defaults.iter().map(|model| model.total_bytes()).sum();
        assert!(bytes <= DEFAULT_BYTES_MAX, "{bytes} bytes on {platform}");
        let kinds = [
            EntryKind::Text,
            EntryKind::Embedding,
            EntryKind::Transcription,
            EntryKind::Speech,
            EntryKind::Image,
            EntryKind::Video,
            EntryKind::Edit,
            EntryKind::Upscale,
            EntryKind::CutOut,
            EntryKind::Erase,
            EntryKind::Safety,
            EntryKind::Library,
        ];
        for kind in kinds {
            assert!(defaults.iter().any(|model| model.kind == kind), "no {kind:?} on {platform}");
        }
        for needed in defaults.iter().flat_map(|model| &model.needs) {
            assert!(defaults.iter().any(|model| model.id == *needed), "{needed} is not fetched");
        }
    }
}

#[test]
fn a_library_is_listed_for_its_platform_only() {
    let manifest = committed().for_platform("linux-aarch64");
    let library = manifest.find_model("onnxruntime").unwrap();
    assert_eq!(library.files.len(), 1);
    assert_eq!(library.files[0].name, "libonnxruntime.so");
}

#[test]
fn a_library_that_is_not_published_here_keeps_nobody_from_the_weights() {
    let manifest = committed().for_platform("plan9-mips");
    let ids: Vec<&str> =
        manifest.with_needs("smollm2-135m").iter().map(|model| model.id.as_str()).collect();
    assert_eq!(ids, ["smollm2-135m"]);
}

#[test]
fn what_is_needed_comes_first_and_once() {
    let manifest = committed();
    let ids: Vec<&str> =
        manifest.with_needs("tts-kokoro").iter().map(|model| model.id.as_str()).collect();
    assert_eq!(ids, ["onnxruntime", "tts-hibari", "tts-kokoro"]);
    assert!(manifest.with_needs("nothing").is_empty());
}

#[test]
fn no_archive_is_shared_by_two_entries() {
    // Each entry is downloaded under its own lock, in its own scratch folder.
    let manifest = committed();
    let mut owners = std::collections::HashMap::new();
    for model in manifest.models() {
        for part in model.files.iter().flat_map(|file| &file.parts) {
            let owner = owners.entry(&part.archive).or_insert(&model.id);
            assert_eq!(*owner, &model.id, "{} is used by both", part.archive);
        }
    }
}

//! Tests with small valid, truncated and malformed files.

use proptest::prelude::*;

use super::*;

/// A file with one tensor of 64 floats.
fn whole() -> Vec<u8> {
    let mut file = b"GGUF".to_vec();
    file.extend(3_u32.to_le_bytes());
    file.extend(1_u64.to_le_bytes());
    file.extend(7_u64.to_le_bytes());
    text_pair(&mut file, "general.architecture", "llama");
    text_pair(&mut file, "general.name", "Mine");
    text_pair(&mut file, "tokenizer.chat_template", "{{ tools }} <tool_call>");
    text(&mut file, "llama.context_length");
    file.extend(4_u32.to_le_bytes());
    file.extend(2048_u32.to_le_bytes());
    text(&mut file, "llama.block_count");
    file.extend(4_u32.to_le_bytes());
    file.extend(30_u32.to_le_bytes());
    text(&mut file, "tokenizer.ggml.tokens");
    file.extend([9_u32.to_le_bytes(), 8_u32.to_le_bytes()].concat());
    file.extend(2_u64.to_le_bytes());
    text(&mut file, "a");
    text(&mut file, "bc");
    text(&mut file, "tokenizer.ggml.scores");
    file.extend([9_u32.to_le_bytes(), 6_u32.to_le_bytes()].concat());
    file.extend(2_u64.to_le_bytes());
    file.extend([0; 8]);
    text(&mut file, "token_embd.weight");
    file.extend(2_u32.to_le_bytes());
    file.extend([8_u64.to_le_bytes(), 8_u64.to_le_bytes()].concat());
    file.extend(0_u32.to_le_bytes());
    file.extend(0_u64.to_le_bytes());
    file.resize(file.len().next_multiple_of(32) + 64 * 4, 0);
    file
}

fn text(file: &mut Vec<u8>, text: &str) {
    file.extend((text.len() as u64).to_le_bytes());
    file.extend(text.as_bytes());
}

fn text_pair(file: &mut Vec<u8>, key: &str, value: &str) {
    text(file, key);
    file.extend(8_u32.to_le_bytes());
    text(file, value);
}

fn read_bytes(bytes: &[u8]) -> Result<GgufMetadata, GgufError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.gguf");
    std::fs::write(&path, bytes).unwrap();
    read_metadata(&path)
}

#[test]
fn a_whole_file_tells_about_its_model() {
    let bytes = whole().len() as u64;
    let facts = GgufMetadata {
        architecture: "llama".to_owned(),
        name: Some("Mine".to_owned()),
        context_tokens: 2048,
        has_tools: true,
        layers: Some(30),
        bytes,
    };
    assert_eq!(read_bytes(&whole()), Ok(facts));
}

#[test]
fn a_file_that_is_cut_anywhere_is_refused() {
    let file = whole();
    for length in 0..file.len() {
        let expected = if length < 4 { "it is no GGUF file" } else { "it is truncated" };
        let told = read_bytes(&file[..length]).unwrap_err().to_string();
        assert!(told.starts_with(expected), "{length} bytes: {told}");
    }
}

#[test]
fn what_is_no_such_file_is_told_from_one_of_another_time() {
    assert_eq!(read_bytes(b"<!DOCTYPE html>"), Err(GgufError::Stranger));
    let mut old = whole();
    old[4] = 1;
    assert_eq!(read_bytes(&old), Err(GgufError::Version(1)));
}

#[test]
fn only_gguf_files_in_the_folder_itself_are_models() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("b.gguf"), "no").unwrap();
    std::fs::write(folder.path().join("a.gguf"), whole()).unwrap();
    std::fs::write(folder.path().join("c.txt"), whole()).unwrap();
    std::fs::create_dir(folder.path().join("d.gguf")).unwrap();
    let found: Vec<(String, bool)> =
        list_model_files(folder.path()).into_iter().map(|it| (it.stem, it.facts.is_ok())).collect();
    assert_eq!(found, [("a".to_owned(), true), ("b".to_owned(), false)]);
    assert_eq!(list_model_files(&folder.path().join("nowhere")), []);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    /// Any header is parsed or rejected without a panic or excessive memory.
    #[test]
    fn a_wild_head_is_read_or_refused(
        at in 4_usize..200,
        wild in prop::collection::vec(prop_oneof![Just(0xff_u8), Just(0x7f), Just(0), any::<u8>()], 1..9),
    ) {
        let mut file = whole();
        for (offset, value) in wild.iter().enumerate() {
            file[at + offset] = *value;
        }
        let bytes = file.len() as u64;
        let _ = GgufHead::read(std::io::Cursor::new(file), bytes);
    }
}

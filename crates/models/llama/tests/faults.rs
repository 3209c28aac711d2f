//! Tests that unusable libraries are rejected without harm.

#![expect(clippy::unwrap_used, reason = "tests end at the first surprise")]

use std::path::Path;
use std::process::Command;

use llama::LlamaLibrary;

#[track_caller]
fn refusal(path: &Path) -> String {
    LlamaLibrary::load(path).unwrap_err().to_string()
}

/// Compiles a library from C source with the compiler that the build needs anyway.
fn compiled(folder: &Path, source: &str) -> std::path::PathBuf {
    let (from, to) = (folder.join("library.c"), folder.join("libllama.so"));
    std::fs::write(&from, source).unwrap();
    let made = Command::new("cc").args(["-shared", "-fPIC", "-o"]).args([&to, &from]).status();
    assert!(made.unwrap().success());
    to
}

#[test]
fn a_path_without_a_library_is_named() {
    let told = refusal(Path::new("/nowhere/libllama.so"));
    assert_eq!(told, "the llama.cpp library /nowhere/libllama.so does not exist");
}

#[test]
fn a_file_that_is_no_library_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("libllama.so");
    std::fs::write(&path, "x".repeat(500)).unwrap();
    let told = refusal(&path);
    assert!(told.contains("cannot load the llama.cpp library"), "{told}");
}

#[test]
fn a_library_that_was_cut_short_is_refused_before_it_is_mapped() {
    let folder = tempfile::tempdir().unwrap();
    let path = compiled(folder.path(), "int llama_version(void) { return 0; }");
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    let told = refusal(&path);
    assert!(told.contains("is damaged: it has") && told.contains("bytes of"), "{told}");
}

#[test]
fn a_library_without_a_function_is_refused_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let told = refusal(&compiled(folder.path(), "int something_else(void) { return 0; }"));
    assert!(told.contains("was made for version 0.5.0"), "{told}");
    assert!(told.contains("undefined symbol"), "{told}");
}

/// All functions exist, but the parameters have an extra field at the start.
#[test]
fn a_library_whose_structures_differ_is_refused_with_the_field() {
    let folder = tempfile::tempdir().unwrap();
    let names = include_str!("../src/bindings.rs").lines().filter_map(|line| {
        let (_, rest) = line.split_once("__library.get(b\"")?;
        Some(rest.split_once('\\').unwrap().0)
    });
    let special = ["llama_version", "llama_model_default_params", "llama_context_default_params"];
    let plain = names.filter(|name| !special.contains(name));
    let plain: String = plain.map(|name| format!("void {name}(void) {{}}\n")).collect();
    let source = format!(
        "{plain}const char *llama_version(void) {{ return \"0.9.0\"; }}\n\
         struct wide {{ long more; char rest[400]; }};\n\
         struct wide llama_model_default_params(void) {{ struct wide it = {{ 7 }}; return it; }}\n\
         struct wide llama_context_default_params(void) {{ struct wide it = {{ 7 }}; return it; }}\n"
    );
    let told = refusal(&compiled(folder.path(), &source));
    assert!(told.contains("it says that it is version 0.9.0"), "{told}");
    assert!(told.contains("llama_model_params.devices"), "{told}");
}

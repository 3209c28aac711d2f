//! Tests that the committed bindings match the committed headers, with a parser independent of the
//! generator.

#![expect(clippy::unwrap_used, reason = "tests end at the first surprise")]

use std::collections::HashMap;

const HEADERS: [&str; 2] =
    [include_str!("../include/llama.h"), include_str!("../include/ggml-backend.h")];
const BINDINGS: &str = include_str!("../src/bindings.rs");

/// A type and a name, as in `const char * text`.
type Typed = (String, String);

/// C source without comments, with one space between words.
fn plain(header: &str) -> String {
    let lines = header.lines().map(|line| line.split("//").next().unwrap());
    let lines: Vec<&str> = lines.filter(|line| !line.trim_start().starts_with('#')).collect();
    let text = lines.join(" ");
    let mut text = text.replace('*', " * ").replace('(', " ( ").replace(')', " ) ");
    while let Some((before, after)) = text.split_once("/ *") {
        let (_, after) = after.split_once("* /").unwrap();
        text = format!("{before} {after}");
    }
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// The Rust type of a C type in the bindings.
fn in_rust(words: &[&str]) -> Option<String> {
    let words: Vec<&str> =
        words.iter().copied().filter(|it| !["struct", "enum"].contains(it)).collect();
    let is_const = words.first() == Some(&"const");
    let stars = words.iter().filter(|it| **it == "*").count();
    let base = words.iter().find(|it| !["const", "*"].contains(it))?;
    let base = match *base {
        "int32_t" => "i32",
        "uint32_t" => "u32",
        "uint64_t" => "u64",
        "int8_t" => "i8",
        "float" => "f32",
        "size_t" => "usize",
        "char" => "c_char",
        "void" if 0 < stars => "c_void",
        "void" => "()",
        other => other,
    };
    let mut named = base.to_owned();
    for star in 0..stars {
        let kind = if is_const && star == 0 { "const" } else { "mut" };
        named = format!("*{kind} {named}");
    }
    Some(named)
}

/// `None` if an argument has no name, as in some functions that are not bound.
fn typed(declaration: &str) -> Option<Typed> {
    let words: Vec<&str> = declaration.split_whitespace().collect();
    let (name, kind) = words.split_last()?;
    Some((in_rust(kind)?, (*name).to_owned()))
}

/// All functions of the headers: return type, then arguments.
fn functions_of_headers() -> HashMap<String, Vec<String>> {
    let mut functions = HashMap::new();
    for header in HEADERS {
        for statement in plain(header).split(';') {
            let start = ["LLAMA_API ", "GGML_API "].iter().find_map(|it| statement.find(it));
            let Some(start) = start else { continue };
            let (_, declaration) = statement[start..].split_once(' ').unwrap();
            let Some((head, arguments)) = declaration.split_once(" ( ") else { continue };
            let Some((given, name)) = typed(head) else { continue };
            let arguments = arguments.trim_end().trim_end_matches(')').trim();
            let taken = arguments.split(',').map(str::trim);
            let taken = taken.filter(|it| !it.is_empty() && *it != "void");
            let taken: Option<Vec<String>> = taken.map(|it| Some(typed(it)?.0)).collect();
            if let Some(taken) = taken {
                functions.insert(name, std::iter::once(given).chain(taken).collect());
            }
        }
    }
    functions
}

/// The same for the bindings.
fn functions_of_bindings() -> HashMap<String, Vec<String>> {
    let text = BINDINGS.split_whitespace().collect::<Vec<&str>>().join(" ");
    let text = text.replace("::std::os::raw::", "");
    let (_, table) = text.split_once("pub struct Functions {").unwrap();
    let (table, _) = table.split_once("impl Functions").unwrap();
    let mut functions = HashMap::new();
    for entry in table.split("pub ").filter(|it| it.contains("unsafe extern \"C\" fn(")) {
        let (name, rest) = entry.split_once(": unsafe extern \"C\" fn(").unwrap();
        let (arguments, given) = rest.split_once(')').unwrap();
        let given = given.trim().trim_end_matches(['}', ' ', ',']).trim();
        let given = given.strip_prefix("-> ").unwrap_or("()").to_owned();
        let taken = arguments.split(',').map(str::trim).filter(|it| !it.is_empty());
        let taken = taken.map(|it| it.split_once(": ").unwrap().1.to_owned());
        functions.insert(name.trim().to_owned(), std::iter::once(given).chain(taken).collect());
    }
    functions
}

#[test]
fn every_function_takes_and_gives_what_the_headers_say() {
    let (headers, bindings) = (functions_of_headers(), functions_of_bindings());
    assert!(35 < bindings.len(), "{}", bindings.len());
    for (name, types) in &bindings {
        let declared = headers.get(name).unwrap_or_else(|| panic!("{name} is in no header"));
        assert_eq!(types, declared, "{name}");
    }
}

#[track_caller]
fn check_fields(structure: &str) {
    let header = plain(HEADERS[0]);
    let (_, fields) = header.split_once(&format!("struct {structure} {{")).unwrap();
    let (fields, _) = fields.split_once('}').unwrap();
    let declared: Vec<Typed> =
        fields.split(';').map(str::trim).filter(|it| !it.is_empty()).flat_map(typed).collect();
    let text = BINDINGS.split_whitespace().collect::<Vec<&str>>().join(" ");
    let text = text.replace("::std::os::raw::", "");
    let (_, fields) = text.split_once(&format!("pub struct {structure} {{")).unwrap();
    let (fields, _) = fields.split_once('}').unwrap();
    let bound: Vec<Typed> = fields
        .split("pub ")
        .filter_map(|it| it.trim().trim_end_matches(',').split_once(": "))
        .map(|(name, kind)| (kind.to_owned(), name.to_owned()))
        .collect();
    assert_eq!(bound, declared, "{structure}");
}

#[test]
fn every_structure_has_the_fields_of_the_header_in_their_order() {
    check_fields("llama_model_params");
    check_fields("llama_context_params");
    check_fields("llama_batch");
}

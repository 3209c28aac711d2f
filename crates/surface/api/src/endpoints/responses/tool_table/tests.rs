//! Tests of the names of tools, to the model and back.

use serde_json::{Value, json};

use super::*;

fn into_parts(table: ToolTable) -> (Vec<ChatTool>, CallNames) {
    (table.list_functions(), table.into_call_names())
}

fn build(tools: Value) -> (ToolTable, ValidationFaults) {
    let tools: Vec<ResponseTool> = serde_json::from_value(tools).unwrap();
    let (mut table, mut faults) = (ToolTable::default(), ValidationFaults::default());
    let place = ToolPlace { path: vec!["tools".into()], is_history: false };
    table.add_tools(&tools, &place, &mut faults);
    (table, faults)
}

fn namespaced(namespace: &str, name: &str) -> DeclaredTool {
    let (namespace, name) = (Some(namespace.to_owned()), name.to_owned());
    DeclaredTool { namespace, name, form: CallForm::Function }
}

#[test]
fn a_namespaced_function_has_a_flat_name_that_leads_back() {
    let inner = json!({"type": "function", "name": "echo"});
    let (table, faults) =
        build(json!([{"type": "namespace", "name": "mcp__rec", "tools": [inner]}]));
    assert!(faults.is_empty());
    let (functions, names) = into_parts(table);
    assert_eq!(functions[0].name, "mcp__rec__echo");
    assert_eq!(names.find("mcp__rec__echo"), namespaced("mcp__rec", "echo"));
}

#[test]
fn a_flat_name_is_at_most_64_characters_of_those_that_chats_allow() {
    let long = "n".repeat(60);
    let tools = json!([{"type": "namespace", "name": long, "tools": [
        {"type": "function", "name": "echo"},
        {"type": "function", "name": "écho there"},
    ]}]);
    let (functions, names) = into_parts(build(tools).0);
    for (function, name) in functions.iter().zip(["echo", "écho there"]) {
        assert!(is_chat_name(&function.name), "{}", function.name);
        assert_eq!(names.find(&function.name), namespaced(&long, name));
    }
    assert_ne!(functions[0].name, functions[1].name);
}

#[test]
fn two_tools_never_share_a_name_in_the_chat() {
    let tools = json!([
        {"type": "function", "name": "a__b"},
        {"type": "namespace", "name": "a", "tools": [{"type": "function", "name": "b"}]},
        {"type": "custom", "name": "a__b"},
    ]);
    let (functions, names) = into_parts(build(tools).0);
    assert_eq!(functions.len(), 3);
    assert_eq!(names.find(&functions[0].name).namespace, None);
    assert_eq!(names.find(&functions[1].name), namespaced("a", "b"));
    assert_eq!(names.find(&functions[2].name).form, CallForm::Custom);
}

#[test]
fn a_custom_tool_is_a_function_of_one_text_with_its_grammar_described() {
    let tools = json!([{"type": "custom", "name": "apply_patch", "description": "Edits files.",
        "format": {"type": "grammar", "syntax": "lark", "definition": "start: \"x\""}}]);
    let (functions, _) = into_parts(build(tools).0);
    let described = functions[0].description.as_deref().unwrap();
    assert!(described.starts_with("Edits files.") && described.ends_with("start: \"x\""));
    let parameters: Value =
        serde_json::from_str(functions[0].parameters.as_ref().unwrap().get()).unwrap();
    assert_eq!(parameters["required"], json!(["input"]));
}

#[test]
fn tools_that_cannot_be_offered_are_faults_or_named_as_left_out() {
    let (mut table, faults) = build(json!([
        {"type": "custom"},
        {"type": "namespace", "name": "n", "tools": [{"type": "namespace", "name": "m"}]},
        {"type": "tool_search"},
        {"type": "function", "name": "a"},
        {"type": "function", "name": "a"},
        {"type": "image_generation"},
        {"type": "web_search"},
    ]));
    let places: Vec<String> =
        faults.issues().as_array().unwrap().iter().map(|it| it["path"].to_string()).collect();
    let expected = [
        r#"["tools",0,"name"]"#,
        r#"["tools",1,"tools",0,"type"]"#,
        r#"["tools",2,"execution"]"#,
        r#"["tools",4,"name"]"#,
    ];
    assert_eq!(places, expected);
    assert_eq!(table.take_dropped(), ["tools.image_generation"]);
}

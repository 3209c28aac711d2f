//! The document as YAML, for tools that read only YAML.
//!
//! Maps and lists in block style; keys and strings in double quotes, as in JSON.

use std::fmt::Write;

use serde_json::Value;

pub(crate) fn to_yaml(document: &Value) -> String {
    let mut text = String::new();
    write_block(document, 0, &mut text);
    text
}

/// Writes a value that starts on its own line.
fn write_block(value: &Value, depth: usize, text: &mut String) {
    let indent = "  ".repeat(depth);
    match value {
        Value::Object(members) if !members.is_empty() => {
            for (name, member) in members {
                let _ = write!(text, "{indent}{}:", Value::from(name.as_str()));
                write_after_key(member, depth, text);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                let _ = write!(text, "{indent}-");
                write_after_key(item, depth, text);
            }
        }
        // Other JSON values are valid YAML.
        plain => {
            let _ = writeln!(text, "{indent}{plain}");
        }
    }
}

/// Writes a value after its key or dash.
fn write_after_key(value: &Value, depth: usize, text: &mut String) {
    let is_nested = match value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => !items.is_empty(),
        _ => false,
    };
    if is_nested {
        text.push('\n');
        write_block(value, depth + 1, text);
    } else {
        let _ = writeln!(text, " {value}");
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;

    use super::*;

    #[test]
    fn maps_and_lists_are_blocks_and_the_rest_is_as_in_json() {
        let document =
            json!({"a": {"b: c": ["x\ny", 1, {"d": null}], "e": {}, "f": []}, "g": true});
        expect![[r#"
            "a":
              "b: c":
                - "x\ny"
                - 1
                -
                  "d": null
              "e": {}
              "f": []
            "g": true
        "#]]
        .assert_eq(&to_yaml(&document));
    }
}

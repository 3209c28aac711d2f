//! Moves refusals that several operations share into `components/responses`, where each stands
//! once.

use axum::http::StatusCode;
use serde_json::{Map, Value, json};

/// A refusal with the number of operations that have it.
struct SharedRefusal {
    status: String,
    response: Value,
    uses: usize,
}

/// Replaces shared refusals by references, and returns their definitions. Replies stay where they
/// are: each belongs to its operation.
pub(super) fn share_refusals(paths: &mut Map<String, Value>) -> Map<String, Value> {
    let mut known: Vec<SharedRefusal> = Vec::new();
    for_each_refusal(paths, |status, response| {
        match known.iter_mut().find(|it| it.status == status && it.response == *response) {
            Some(shared) => shared.uses += 1,
            None => known.push(SharedRefusal {
                status: status.to_owned(),
                response: response.clone(),
                uses: 1,
            }),
        }
    });
    known.retain(|it| 1 < it.uses);
    // The most used one of a status has the plain name.
    known.sort_by(|one, other| one.status.cmp(&other.status).then(other.uses.cmp(&one.uses)));
    let mut definitions: Map<String, Value> = Map::new();
    let mut names = Vec::new();
    for shared in &known {
        let name = unused_name(&shared.status, &definitions);
        definitions.insert(name.clone(), shared.response.clone());
        names.push(name);
    }
    for_each_refusal(paths, |status, response| {
        let is_same = |it: &SharedRefusal| it.status == status && it.response == *response;
        if let Some(index) = known.iter().position(is_same) {
            *response = json!({ "$ref": format!("#/components/responses/{}", names[index]) });
        }
    });
    definitions
}

fn for_each_refusal(paths: &mut Map<String, Value>, mut visit: impl FnMut(&str, &mut Value)) {
    let operations = paths.values_mut().filter_map(Value::as_object_mut);
    for operation in operations.flat_map(|it| it.values_mut()) {
        let responses = operation.get_mut("responses").and_then(Value::as_object_mut);
        let is_refusal = |(status, _): &(&String, &mut Value)| status.starts_with(['4', '5']);
        for (status, response) in responses.into_iter().flatten().filter(is_refusal) {
            visit(status, response);
        }
    }
}

/// The words of a status, such as `TooManyRequests`, with a number where that name is taken.
fn unused_name(status: &str, taken: &Map<String, Value>) -> String {
    let code = status.parse().ok().and_then(|it| StatusCode::from_u16(it).ok());
    let words = code.and_then(|it| it.canonical_reason()).unwrap_or(status);
    let words: String = words.chars().filter(char::is_ascii_alphanumeric).collect();
    let numbered = (2..).map(|number: usize| format!("{words}{number}"));
    let mut names = std::iter::once(words.clone()).chain(numbered);
    names.find(|it| !taken.contains_key(it)).unwrap_or(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_twice_is_defined_once() {
        let refusal = |text: &str| json!({ "description": text });
        let mut paths = Map::from_iter([
            (
                "/a".to_owned(),
                json!({"get": {"responses": {"200": refusal("A"),
                "429": refusal("Often"), "503": refusal("Later")}}}),
            ),
            (
                "/b".to_owned(),
                json!({
                "get": {"responses": {"200": refusal("A"), "429": refusal("Seldom")}},
                "post": {"responses": {"429": refusal("Seldom"), "503": refusal("Later")}}}),
            ),
            (
                "/c".to_owned(),
                json!({"get": {"responses": {"429": refusal("Often")}},
                "post": {"responses": {"429": refusal("Often")}}}),
            ),
        ]);
        let definitions = share_refusals(&mut paths);
        let expected = json!({"TooManyRequests": refusal("Often"),
            "TooManyRequests2": refusal("Seldom"), "ServiceUnavailable": refusal("Later")});
        assert_eq!(Value::Object(definitions), expected);
        let reference = |name: &str| json!({ "$ref": format!("#/components/responses/{name}") });
        assert_eq!(
            paths["/a"]["get"]["responses"],
            json!({"200": refusal("A"),
            "429": reference("TooManyRequests"), "503": reference("ServiceUnavailable")})
        );
        let rarer = &paths["/b"]["post"]["responses"]["429"];
        assert_eq!(*rarer, reference("TooManyRequests2"));
    }
}

//! The OpenAPI document, built from the endpoints' declarations.

mod headers;
mod responses;
mod simplify;
pub(crate) mod yaml;

use http_frame::endpoint::ApiEndpoint;
use http_frame::version::VERSION;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// OpenAPI 3.1 uses JSON Schema 2020-12, so the enforced schemas keep their meaning.
pub(crate) fn build_document(endpoints: &[ApiEndpoint]) -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    for endpoint in endpoints {
        let mut operation = endpoint.build_operation(&mut generator);
        headers::add_headers(&mut operation, endpoint.is_limited_by_model());
        // OpenAPI has no syntax for parameters with slashes.
        let path = endpoint.path.replace("{*", "{");
        let path = paths.entry(path).or_insert_with(|| json!({}));
        let method = endpoint.method.as_str().to_lowercase();
        path[method] = with_simple_schemas(operation);
    }
    let refusals = responses::share_refusals(&mut paths);
    let mut schemas = generator.take_definitions(true);
    simplify::simplify_definitions(&mut schemas);
    schemas.sort_keys();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Tollgate",
            "version": VERSION,
            "description": "AI inference and utilities, paid from prepaid credits.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [
            { "url": "/api/v1", "description": "Errors as in this document." },
            {
                "url": "/v1",
                "description": "The same for OpenAI's SDKs: every error is \
                    `{\"error\": {\"message\", \"type\", \"param\", \"code\"}}`.",
            },
        ],
        "paths": paths,
        "components": {
            "headers": headers::build_definitions(),
            "responses": refusals,
            "schemas": schemas,
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "An API key: `Authorization: Bearer <API_KEY>`.",
                },
                "signInWithX": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "SIGN-IN-WITH-X",
                    "description": "Base64 of a sign-in message and the wallet's signature: \
                        EIP-4361 on Base, Ed25519 on Solana. Each nonce is used once.",
                },
            },
        },
    })
}

/// Simplifies the schemas of an operation for client generators.
fn with_simple_schemas(mut operation: Value) -> Value {
    let parameters = operation.get_mut("parameters").and_then(Value::as_array_mut);
    for parameter in parameters.into_iter().flatten() {
        simplify::simplify_schema(&mut parameter["schema"]);
    }
    operation.get_mut("requestBody").into_iter().for_each(simplify_contents);
    let responses = operation.get_mut("responses").and_then(Value::as_object_mut);
    responses.into_iter().flat_map(|it| it.values_mut()).for_each(simplify_contents);
    operation
}

fn simplify_contents(message: &mut Value) {
    let contents = message.get_mut("content").and_then(Value::as_object_mut);
    for content in contents.into_iter().flat_map(|it| it.values_mut()) {
        simplify::simplify_schema(&mut content["schema"]);
    }
}

//! The OpenAPI document, written from the endpoints' declarations.

pub(crate) mod yaml;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::endpoint::Endpoint;
use crate::version::VERSION;

/// OpenAPI 3.1 speaks JSON Schema 2020-12, so the enforced schemas go in unchanged.
pub(crate) fn document(endpoints: &[Endpoint]) -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    for endpoint in endpoints {
        let operation = endpoint.operation(&mut generator);
        // A parameter that may contain slashes is an ordinary one to the document.
        let path = endpoint.path.replace("{*", "{");
        let path = paths.entry(path).or_insert_with(|| json!({}));
        path[endpoint.method.as_str().to_lowercase()] = operation;
    }
    let mut schemas = generator.take_definitions(true);
    schemas.sort_keys();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Tollgate",
            "version": VERSION,
            "description": "AI inference and utilities, paid from prepaid credits.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/api/v1" }],
        "paths": paths,
        "components": {
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

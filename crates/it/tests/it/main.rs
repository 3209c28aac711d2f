//! HTTP behaviour, grouped as the specification is. One binary, so that it links once.

#![expect(clippy::unwrap_used, reason = "a broken test must stop at once")]

mod answer_bounds;
mod api_keys;
mod auth;
mod bad_input;
mod billing;
mod chat;
mod chat_diem;
mod chat_documents;
mod chat_fields;
mod chat_hostile;
mod chat_media;
mod chat_money;
mod chat_sockets;
mod chat_streams;
mod completions;
mod connections;
mod coverage;
mod crypto;
mod crypto_keyed;
mod embeddings;
mod embeddings_fields;
mod limits;
mod models;
mod openapi;
mod regions;
mod responses;
mod responses_fields;
mod sign_in;
mod speech;
mod tee;
mod transcriptions;
mod transport;
mod web3_keys;
mod x402;

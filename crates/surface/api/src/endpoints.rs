//! All endpoints, in the order of the OpenAPI document.

mod api_keys;
mod audio;
mod augment;
mod batches;
pub(crate) mod billing;
mod characters;
mod chat;
mod citations;
mod completions;
pub(crate) mod conversations;
pub(crate) mod crypto;
mod document;
mod embeddings;
mod files;
mod image;
mod inference_body;
mod mcp;
mod mcp_servers;
mod mcp_tools;
mod media;
mod messages;
mod model_candidates;
mod models;
mod moderations;
mod persona;
mod read_tokens;
mod rerank;
pub(crate) mod responses;
mod tee;
mod video;
mod web_context;
mod x402;

use http_frame::endpoint::ApiEndpoint;
pub(crate) use rerank::{COHERE_PATH as COHERE_RERANK_PATH, build_endpoint as rerank_endpoint};
use wire::batches::BatchEndpoint;

pub(crate) use self::mcp::PATH as MCP_PATH;

pub(crate) fn list_endpoints() -> Vec<ApiEndpoint> {
    let mut endpoints = list_model_endpoints();
    endpoints.extend(list_service_endpoints());
    endpoints
}

/// The endpoint that serves lines of batches with this URL.
pub(crate) fn batch_endpoint(endpoint: BatchEndpoint) -> ApiEndpoint {
    match endpoint {
        BatchEndpoint::ChatCompletions => chat::build_endpoint(),
        BatchEndpoint::Responses => responses::build_endpoint(),
        BatchEndpoint::Embeddings => embeddings::build_endpoint(),
        BatchEndpoint::Messages => messages::build_endpoint(),
    }
}

/// Work of models.
fn list_model_endpoints() -> Vec<ApiEndpoint> {
    vec![
        chat::build_endpoint(),
        completions::build_endpoint(),
        responses::build_endpoint(),
        responses::stored::read::list_endpoint(),
        responses::stored::read::get_endpoint(),
        responses::stored::read::delete_endpoint(),
        responses::stored::read::input_items_endpoint(),
        responses::background::cancel::build_endpoint(),
        conversations::create_endpoint(),
        conversations::get_endpoint(),
        conversations::change_endpoint(),
        conversations::delete_endpoint(),
        conversations::item_list::list_endpoint(),
        conversations::item_list::add_endpoint(),
        conversations::item_list::get_endpoint(),
        conversations::item_list::delete_endpoint(),
        messages::build_endpoint(),
        messages::count_tokens::build_endpoint(),
        embeddings::build_endpoint(),
        files::create::build_endpoint(),
        files::list::build_endpoint(),
        files::get::build_endpoint(),
        files::content::build_endpoint(),
        files::remove::build_endpoint(),
        batches::create::build_endpoint(),
        batches::list::build_endpoint(),
        batches::get::build_endpoint(),
        batches::cancel::build_endpoint(),
        rerank::build_endpoint(),
        moderations::build_endpoint(),
        image::generate::build_endpoint(),
        image::edit::build_endpoint(),
        image::multi_edit::build_endpoint(),
        image::upscale::build_endpoint(),
        image::background_remove::build_endpoint(),
        image::styles::build_endpoint(),
        image::openai::generations::build_endpoint(),
        image::openai::edits::build_endpoint(),
        image::openai::variations::build_endpoint(),
        audio::speech::build_endpoint(),
        audio::transcriptions::build_endpoint(),
        audio::translations::build_endpoint(),
        audio::quote::build_endpoint(),
        audio::queue::build_endpoint(),
        audio::retrieve::build_endpoint(),
        audio::complete::build_endpoint(),
        video::quote::build_endpoint(),
        video::queue::build_endpoint(),
        video::retrieve::build_endpoint(),
        video::complete::build_endpoint(),
        media::download_endpoint(),
        media::revoke_endpoint(),
        audio::voices::build_endpoint(),
        audio::video_transcriptions::build_endpoint(),
    ]
}

fn list_service_endpoints() -> Vec<ApiEndpoint> {
    vec![
        augment::scrape::build_endpoint(),
        augment::search::build_endpoint(),
        augment::text_parser::build_endpoint(),
        characters::list::build_endpoint(),
        characters::get::build_endpoint(),
        characters::photo::build_endpoint(),
        characters::reviews::list_endpoint(),
        characters::reviews::create_endpoint(),
        characters::manage::list_endpoint(),
        characters::manage::create_endpoint(),
        characters::manage::get_endpoint(),
        characters::manage::change_endpoint(),
        characters::manage::remove_endpoint(),
        models::list::build_endpoint(),
        models::traits::build_endpoint(),
        models::compatibility::build_endpoint(),
        models::get::build_endpoint(),
        api_keys::list::build_endpoint(),
        api_keys::create::build_endpoint(),
        api_keys::change::build_endpoint(),
        api_keys::revoke::build_endpoint(),
        api_keys::rate_limits::build_endpoint(),
        api_keys::rate_limit_log::build_endpoint(),
        api_keys::rate_limit_log::build_alias_endpoint(),
        api_keys::web3::token_endpoint(),
        api_keys::web3::key_endpoint(),
        api_keys::get::build_endpoint(),
        billing::balance::build_endpoint(),
        billing::usage::build_endpoint(),
        billing::history::build_endpoint(),
        billing::analytics::build_endpoint(),
        tee::attestation::build_endpoint(),
        tee::signature::build_endpoint(),
        x402::top_up::build_endpoint(),
        x402::balance::build_endpoint(),
        x402::transactions::build_endpoint(),
        crypto::networks::build_endpoint(),
        crypto::relay::build_endpoint(),
        mcp::build_endpoint(),
        mcp_servers::list_endpoint(),
        mcp_servers::tools_endpoint(),
    ]
}

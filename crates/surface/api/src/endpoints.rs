//! All endpoints, in the order of the OpenAPI document.

mod api_keys;
mod audio;
mod augment;
pub(crate) mod billing;
mod characters;
mod chat;
mod citations;
mod completions;
pub(crate) mod crypto;
mod document;
mod embeddings;
mod image;
mod inference_body;
mod media;
mod messages;
mod model_candidates;
mod models;
mod persona;
mod responses;
mod tee;
mod video;
mod web_context;
mod x402;

use http_frame::endpoint::ApiEndpoint;

pub(crate) fn list_endpoints() -> Vec<ApiEndpoint> {
    vec![
        chat::build_endpoint(),
        completions::build_endpoint(),
        responses::build_endpoint(),
        messages::build_endpoint(),
        messages::count_tokens::build_endpoint(),
        embeddings::build_endpoint(),
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
    ]
}

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
mod lineup;
mod media;
mod models;
mod persona;
mod responses;
mod tee;
mod video;
mod web_context;
mod x402;

use crate::endpoint::Endpoint;

pub(crate) fn all() -> Vec<Endpoint> {
    vec![
        chat::endpoint(),
        completions::endpoint(),
        responses::endpoint(),
        embeddings::endpoint(),
        image::generate::endpoint(),
        image::edit::endpoint(),
        image::multi_edit::endpoint(),
        image::upscale::endpoint(),
        image::cut_out::endpoint(),
        image::styles::endpoint(),
        image::openai::generations::endpoint(),
        image::openai::edits::endpoint(),
        image::openai::variations::endpoint(),
        audio::speech::endpoint(),
        audio::transcriptions::endpoint(),
        audio::quote::endpoint(),
        audio::queue::endpoint(),
        audio::retrieve::endpoint(),
        audio::complete::endpoint(),
        video::quote::endpoint(),
        video::queue::endpoint(),
        video::retrieve::endpoint(),
        video::complete::endpoint(),
        media::download_endpoint(),
        media::revoke_endpoint(),
        audio::voices::endpoint(),
        audio::video_transcriptions::endpoint(),
        augment::scrape::endpoint(),
        augment::search::endpoint(),
        augment::text_parser::endpoint(),
        characters::list::endpoint(),
        characters::get::endpoint(),
        characters::photo::endpoint(),
        characters::reviews::list_endpoint(),
        characters::reviews::create_endpoint(),
        characters::manage::list_endpoint(),
        characters::manage::create_endpoint(),
        characters::manage::get_endpoint(),
        characters::manage::change_endpoint(),
        characters::manage::remove_endpoint(),
        models::list::endpoint(),
        models::traits::endpoint(),
        models::compatibility::endpoint(),
        models::get::endpoint(),
        api_keys::list::endpoint(),
        api_keys::create::endpoint(),
        api_keys::change::endpoint(),
        api_keys::revoke::endpoint(),
        api_keys::rate_limits::endpoint(),
        api_keys::rate_limit_log::endpoint(),
        api_keys::rate_limit_log::alias(),
        api_keys::web3::token_endpoint(),
        api_keys::web3::key_endpoint(),
        api_keys::get::endpoint(),
        billing::balance::endpoint(),
        billing::usage::endpoint(),
        billing::history::endpoint(),
        billing::analytics::endpoint(),
        tee::attestation::endpoint(),
        tee::signature::endpoint(),
        x402::top_up::endpoint(),
        x402::balance::endpoint(),
        x402::transactions::endpoint(),
        crypto::networks::endpoint(),
        crypto::relay::endpoint(),
    ]
}

//! The sections of `tollgate.toml`: one file each, with its keys, its type and its parser.

pub mod brand;
pub mod chat;
pub mod cluster;
pub mod development;
pub mod diem;
pub mod engine;
pub mod image;
pub mod limits;
pub mod log;
pub mod media;
pub mod provider;
pub mod queue;
pub mod rpc;
pub mod scrape;
pub mod search;
pub mod server;
pub mod store;
pub mod tier;
pub mod top;
pub mod x402;

use crate::catalogue;
use crate::key::ConfigSection;

const HTTP: &[&str] = &["http://", "https://"];

/// Returns every section in the order of the documentation.
pub fn list_sections() -> impl Iterator<Item = &'static ConfigSection> {
    BEFORE_MODELS.iter().chain(catalogue::SECTIONS).chain(AFTER_MODELS).copied()
}

/// Returns the section with this name.
pub fn find_section(name: &str) -> Option<&'static ConfigSection> {
    list_sections().find(|section| section.name == name)
}

const BEFORE_MODELS: &[&ConfigSection] = &[
    &top::SECTION,
    &server::SECTION,
    &brand::SECTION,
    &log::SECTION,
    &development::SECTION,
    &store::SECTION,
    &cluster::SECTION,
    &limits::SECTION,
    &tier::SECTION,
    &media::SECTION,
    &queue::SECTION,
    &engine::SECTION,
    &chat::SECTION,
    &image::SECTION,
    &provider::SECTION,
];

const AFTER_MODELS: &[&ConfigSection] = &[
    &x402::SECTION,
    &diem::SECTION,
    &rpc::SECTION,
    &rpc::NETWORK_SECTION,
    &search::SECTION,
    &scrape::SECTION,
];

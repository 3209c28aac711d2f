//! The sections of `tollgate.toml`: one file each, with its keys, its type and its parser.

pub mod batches;
pub mod brand;
pub mod chat;
pub mod cluster;
pub mod development;
pub mod diem;
pub mod engine;
pub mod image;
pub mod limits;
pub mod log;
pub mod mcp;
pub mod media;
pub mod provider;
pub mod queue;
pub mod responses;
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
use crate::section_table::SectionTable;

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
    &server::ServerConfig::SECTION,
    &brand::BrandConfig::SECTION,
    &log::LogConfig::SECTION,
    &development::DevelopmentConfig::SECTION,
    &store::StoreConfig::SECTION,
    &cluster::ClusterKeys::SECTION,
    &limits::LimitsConfig::SECTION,
    &tier::TierKeys::SECTION,
    &media::MediaConfig::SECTION,
    &queue::QueueConfig::SECTION,
    &responses::ResponsesConfig::SECTION,
    &batches::BatchesConfig::SECTION,
    &batches::FilesConfig::SECTION,
    &engine::EngineConfig::SECTION,
    &chat::ChatConfig::SECTION,
    &image::ImageConfig::SECTION,
    &provider::ProviderConfig::SECTION,
];

const AFTER_MODELS: &[&ConfigSection] = &[
    &x402::X402Config::SECTION,
    &diem::DiemKeys::SECTION,
    &rpc::RpcConfig::SECTION,
    &rpc::RpcNetworkKeys::SECTION,
    &search::SearchConfig::SECTION,
    &scrape::ScrapeConfig::SECTION,
    &mcp::McpConfig::SECTION,
    &mcp::McpServerConfig::SECTION,
];

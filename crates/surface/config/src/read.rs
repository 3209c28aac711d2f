//! Converts the merged tree to typed settings, and reports all faults at once.

use domain::catalogue::CatalogueModel;
use domain::limits::tiers::{LimitClass, MinuteLimits, RateLimitTier, RateLimitTiers};

use crate::catalogue;
use crate::fault::{ConfigFault, FaultList, InvalidConfig, did_you_mean};
use crate::key::{ConfigSection, SectionForm};
use crate::node::{ConfigNode, ConfigTable, ConfigValue};
use crate::origin::SettingOrigin;
use crate::reader::TableReader;
use crate::secret::SecretResolver;
use crate::section_table::SectionTable;
use crate::sections::batches::{BatchesConfig, FilesConfig};
use crate::sections::brand::BrandConfig;
use crate::sections::chat::ChatConfig;
use crate::sections::cluster::ClusterConfig;
use crate::sections::development::DevelopmentConfig;
use crate::sections::diem::DiemConfig;
use crate::sections::engine::EngineConfig;
use crate::sections::image::ImageConfig;
use crate::sections::limits::LimitsConfig;
use crate::sections::log::LogConfig;
use crate::sections::mcp::{McpConfig, McpServerConfig};
use crate::sections::media::MediaConfig;
use crate::sections::provider::{self, ProviderConfig};
use crate::sections::queue::QueueConfig;
use crate::sections::responses::ResponsesConfig;
use crate::sections::rpc::RpcConfig;
use crate::sections::scrape::ScrapeConfig;
use crate::sections::search::SearchConfig;
use crate::sections::server::ServerConfig;
use crate::sections::store::StoreConfig;
use crate::sections::x402::X402Config;
use crate::sections::{self, top};
use crate::sources::{ConfigSources, value_or_faults};

/// The complete, validated configuration.
#[derive(Debug, Clone)]
pub struct ServiceConfig {
    pub server: ServerConfig,
    pub brand: BrandConfig,
    pub log: LogConfig,
    pub development: DevelopmentConfig,
    pub store: StoreConfig,
    /// None for a single node.
    pub cluster: Option<ClusterConfig>,
    pub limits: LimitsConfig,
    pub tiers: RateLimitTiers,
    pub media: MediaConfig,
    pub queue: QueueConfig,
    pub responses: ResponsesConfig,
    pub batches: BatchesConfig,
    pub files: FilesConfig,
    pub engine: EngineConfig,
    pub chat: ChatConfig,
    pub image: ImageConfig,
    pub providers: Vec<ProviderConfig>,
    pub models: Vec<CatalogueModel>,
    pub x402: X402Config,
    /// None if stakes are not read from a contract.
    pub diem: Option<DiemConfig>,
    pub rpc: RpcConfig,
    pub search: SearchConfig,
    pub scrape: ScrapeConfig,
    pub mcp: McpConfig,
    pub mcp_servers: Vec<McpServerConfig>,
    /// Valid settings that should be changed, such as a secret written into the file.
    pub warnings: Vec<ConfigFault>,
}

impl ConfigSources {
    /// Returns the whole configuration, or all its faults.
    pub fn read(&self) -> Result<ServiceConfig, InvalidConfig> {
        self.read_checked(|table, providers, faults| {
            catalogue::provider_support::check_declared_features(table, providers, faults);
        })
    }

    /// Like `read`, for stub engines: skips the check that providers support the declared features.
    pub fn read_for_stub_engines(&self) -> Result<ServiceConfig, InvalidConfig> {
        self.read_checked(|_, _, _| {})
    }

    fn read_checked(
        &self,
        check_abilities: impl Fn(&ConfigTable, &[ProviderConfig], &FaultList),
    ) -> Result<ServiceConfig, InvalidConfig> {
        let faults = self.faults();
        let vault = SecretResolver::new(&self.environment, &self.folder);
        let top = TopLevelReader { table: &self.table, faults: &faults, vault: &vault };
        top.check_names();
        top.check_includes();
        // All sections are read before an error is returned, so that all faults are reported.
        let server = top.read_section();
        let brand = top.read_section();
        let log = top.read_section();
        let development = top.read_section();
        let store = top.read_section();
        let cluster = top.read_section();
        let limits = top.read_section();
        let mut tiers = top.read_tiers();
        let media = top.read_section();
        let queue = top.read_section();
        let responses = top.read_section();
        let batches = top.read_section();
        let files = top.read_section();
        let engine = top.read_section();
        let chat = top.read_section();
        let image = top.read_section();
        let providers = top.read_providers();
        let mut provider_ids = top.provider_ids();
        // The built-in engine needs no `[[provider]]` entry.
        provider_ids.push(provider::BUILT_IN);
        let mut models = catalogue::read_models(&self.table, &provider_ids, &faults);
        catalogue::fill_hour_cache_prices(&mut models, &providers);
        check_abilities(&self.table, &providers, &faults);
        let x402: Option<X402Config> = top.read_section();
        if let Some(x402) = &x402 {
            let allowed = MinuteLimits { requests: x402.top_ups_per_minute, tokens: None };
            tiers.set_default_limits(LimitClass::TopUp, allowed);
        }
        let diem = top.read_section();
        let rpc = top.read_section();
        let search = top.read_section();
        let scrape = top.read_section();
        let mcp = top.read_section();
        let mcp_servers = top.read_mcp_servers();
        let warnings = vault.into_warnings().into_sorted();
        let config = || {
            Some(ServiceConfig {
                server: server?,
                brand: brand?,
                log: log?,
                development: development?,
                store: store?,
                cluster: cluster?,
                limits: limits?,
                tiers,
                media: media?,
                queue: queue?,
                responses: responses?,
                batches: batches?,
                files: files?,
                engine: engine?,
                chat: chat?,
                image: image?,
                providers,
                models,
                x402: x402?,
                diem: diem?,
                rpc: rpc?,
                search: search?,
                scrape: scrape?,
                mcp: mcp?,
                mcp_servers,
                warnings,
            })
        };
        value_or_faults(config(), faults)
    }

    /// Returns only the settings that opening the database needs. Commands that manage keys or
    /// accounts use it, because they must work in a shell without the service's secrets.
    pub fn read_database_config(&self) -> Result<DatabaseConfig, InvalidConfig> {
        let faults = self.faults();
        let vault = SecretResolver::new(&self.environment, &self.folder);
        let top = TopLevelReader { table: &self.table, faults: &faults, vault: &vault };
        let store = top.read_section();
        let development = top.read_section();
        let tiers = top.read_tiers();
        let ground = || Some(DatabaseConfig { store: store?, development: development?, tiers });
        value_or_faults(ground(), faults)
    }
}

/// The settings needed to open and initialize a database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseConfig {
    pub store: StoreConfig,
    pub development: DevelopmentConfig,
    pub tiers: RateLimitTiers,
}

struct TopLevelReader<'a> {
    table: &'a ConfigTable,
    faults: &'a FaultList,
    vault: &'a SecretResolver<'a>,
}

impl<'a> TopLevelReader<'a> {
    /// Reads a section of the form `[name]`.
    fn read_section<T: SectionTable>(&self) -> Option<T> {
        T::read(&self.section_reader(&T::SECTION))
    }

    fn section_reader(&self, section: &ConfigSection) -> TableReader<'a> {
        static EMPTY: ConfigTable = ConfigTable::EMPTY;
        let place = format!("[{}]", section.name);
        let (table, origin) = match self.table.get(section.name) {
            Some(ConfigNode { value: ConfigValue::Table(table), origin }) => {
                (table, origin.clone())
            }
            Some(node) => {
                let message = format!("`{}` must be a section, written {place}", section.name);
                self.faults.push(&node.origin, message);
                (&EMPTY, node.origin.clone())
            }
            None => (&EMPTY, SettingOrigin::Default),
        };
        let reader = TableReader::new(table, section.keys, place, origin, self.faults);
        reader.with_resolver(self.vault)
    }

    /// Returns the ids of all provider entries, also of invalid ones: those are reported
    /// separately, and models may still name them.
    fn provider_ids(&self) -> Vec<&'a str> {
        let Some(ConfigNode { value: ConfigValue::List(items), .. }) = self.table.get("provider")
        else {
            return Vec::new();
        };
        let id = |item: &'a ConfigNode| match &item.value {
            ConfigValue::Table(table) => match table.get("id") {
                Some(ConfigNode { value: ConfigValue::Text(id), .. }) => Some(id.as_str()),
                _ => None,
            },
            _ => None,
        };
        items.iter().filter_map(id).collect()
    }

    fn entry_readers(&self, section: &ConfigSection) -> Vec<TableReader<'a>> {
        let place = format!("[[{}]]", section.name);
        let Some(node) = self.table.get(section.name) else { return Vec::new() };
        let ConfigValue::List(items) = &node.value else {
            let message = format!("`{}` must be a list, written {place}", section.name);
            self.faults.push(&node.origin, message);
            return Vec::new();
        };
        let mut readers = Vec::new();
        for item in items {
            match &item.value {
                ConfigValue::Table(table) => {
                    let (place, origin) = (place.clone(), item.origin.clone());
                    let reader = TableReader::new(table, section.keys, place, origin, self.faults);
                    readers.push(reader.with_resolver(self.vault));
                }
                other => {
                    let message = format!("{place} must be a table, not {}", other.describe_type());
                    self.faults.push(&item.origin, message);
                }
            }
        }
        readers
    }

    fn read_providers(&self) -> Vec<ProviderConfig> {
        let mut providers: Vec<ProviderConfig> = Vec::new();
        for reader in self.entry_readers(&ProviderConfig::SECTION) {
            let Some(provider) = ProviderConfig::read(&reader) else { continue };
            let is_taken = providers.iter().any(|earlier| earlier.id == provider.id);
            if is_taken {
                let message = format!("a second [[provider]] has the id `{}`", provider.id);
                reader.report_fault("id", message);
                continue;
            }
            providers.push(provider);
        }
        providers
    }

    fn read_mcp_servers(&self) -> Vec<McpServerConfig> {
        let mut servers: Vec<McpServerConfig> = Vec::new();
        for reader in self.entry_readers(&McpServerConfig::SECTION) {
            let Some(server) = McpServerConfig::read(&reader) else { continue };
            if servers.iter().any(|earlier| earlier.label == server.label) {
                let message = format!("a second [[mcp_server]] has the label `{}`", server.label);
                reader.report_fault("label", message);
                continue;
            }
            servers.push(server);
        }
        servers
    }

    fn read_tiers(&self) -> RateLimitTiers {
        let mut written: Vec<RateLimitTier> = Vec::new();
        for reader in self.entry_readers(&RateLimitTier::SECTION) {
            let Some(tier) = RateLimitTier::read(&reader) else { continue };
            if written.iter().any(|earlier| earlier.name() == tier.name()) {
                reader
                    .report_fault("id", format!("a second [[tier]] has the id `{}`", tier.name()));
                continue;
            }
            written.push(tier);
        }
        let mut tiers = RateLimitTiers::default();
        written.into_iter().for_each(|tier| tiers.set(tier));
        tiers
    }

    /// Checks the form of the `include` list. The files themselves were read by `gather`.
    fn check_includes(&self) {
        let mut included = ConfigTable::default();
        if let Some(node) = self.table.get("include") {
            included.insert("include", node.clone());
        }
        let keys = top::SECTION.keys;
        TableReader::new(&included, keys, "the file", SettingOrigin::Default, self.faults)
            .texts("include");
    }

    /// Reports top-level names that are neither a key nor a section.
    fn check_names(&self) {
        let first_words =
            sections::list_sections().filter(|section| section.form != SectionForm::Inner);
        let first_words = first_words.filter_map(|section| section.name.split('.').next());
        let keys = top::SECTION.keys.iter().map(|key| key.name);
        let known: Vec<&str> = keys.chain(first_words).filter(|name| !name.is_empty()).collect();
        for (name, node) in self.table.entries() {
            if known.contains(&name) {
                continue;
            }
            let what = if matches!(node.value, ConfigValue::Table(_)) { "section" } else { "key" };
            let hint = did_you_mean(name, known.iter().copied());
            self.faults.push(&node.origin, format!("unknown {what} `{name}`{hint}"));
        }
    }
}

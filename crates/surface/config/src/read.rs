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
use crate::sections::brand::{self, BrandConfig};
use crate::sections::chat::{self, ChatConfig};
use crate::sections::cluster::{self, ClusterConfig};
use crate::sections::development::{self, DevelopmentConfig};
use crate::sections::diem::{self, DiemConfig};
use crate::sections::engine::{self, EngineConfig};
use crate::sections::image::{self, ImageConfig};
use crate::sections::limits::{self, LimitsConfig};
use crate::sections::log::{self, LogConfig};
use crate::sections::media::{self, MediaConfig};
use crate::sections::provider::{self, ProviderConfig};
use crate::sections::queue::{self, QueueConfig};
use crate::sections::rpc::{self, RpcConfig};
use crate::sections::scrape::{self, ScrapeConfig};
use crate::sections::search::{self, SearchConfig};
use crate::sections::server::{self, ServerConfig};
use crate::sections::store::{self, StoreConfig};
use crate::sections::x402::{self, X402Config};
use crate::sections::{self, tier, top};
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
        let top = TopLevelReader { table: &self.table, faults: &faults };
        top.check_names();
        top.check_includes();
        // All sections are read before an error is returned, so that all faults are reported.
        let server = server::read_server_config(&top.section_reader(&server::SECTION));
        let brand = brand::read_brand_config(&top.section_reader(&brand::SECTION), &vault);
        let log = log::read_log_config(&top.section_reader(&log::SECTION));
        let development =
            development::read_development_config(&top.section_reader(&development::SECTION));
        let store = store::read_store_config(&top.section_reader(&store::SECTION));
        let cluster = cluster::read_cluster_config(&top.section_reader(&cluster::SECTION));
        let limits = limits::read_limits_config(&top.section_reader(&limits::SECTION));
        let mut tiers = top.read_tiers();
        let media = media::read_media_config(&top.section_reader(&media::SECTION));
        let queue = queue::read_queue_config(&top.section_reader(&queue::SECTION));
        let engine = engine::read_engine_config(&top.section_reader(&engine::SECTION));
        let chat = chat::read_chat_config(&top.section_reader(&chat::SECTION));
        let image = image::read_image_config(&top.section_reader(&image::SECTION));
        let providers = top.read_providers(&vault);
        let mut provider_ids = top.provider_ids();
        // The built-in engine needs no `[[provider]]` entry.
        provider_ids.push(provider::BUILT_IN);
        let mut models = catalogue::read_models(&self.table, &provider_ids, &faults);
        catalogue::fill_hour_cache_prices(&mut models, &providers);
        check_abilities(&self.table, &providers, &faults);
        let x402 = x402::read_x402_config(&top.section_reader(&x402::SECTION), &vault);
        if let Some(x402) = &x402 {
            let allowed = MinuteLimits { requests: x402.top_ups_per_minute, tokens: None };
            tiers.set_default_limits(LimitClass::TopUp, allowed);
        }
        let diem = diem::read_diem_config(&top.section_reader(&diem::SECTION), &vault);
        let rpc = rpc::read_rpc_config(&top.section_reader(&rpc::SECTION), &vault);
        let search = search::read_search_config(&top.section_reader(&search::SECTION), &vault);
        let scrape = scrape::read_scrape_config(&top.section_reader(&scrape::SECTION));
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
                warnings,
            })
        };
        value_or_faults(config(), faults)
    }

    /// Returns only the settings that opening the database needs. Commands that manage keys or
    /// accounts use it, because they must work in a shell without the service's secrets.
    pub fn read_database_config(&self) -> Result<DatabaseConfig, InvalidConfig> {
        let faults = self.faults();
        let top = TopLevelReader { table: &self.table, faults: &faults };
        let store = store::read_store_config(&top.section_reader(&store::SECTION));
        let development =
            development::read_development_config(&top.section_reader(&development::SECTION));
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
}

impl<'a> TopLevelReader<'a> {
    fn section_reader(&self, section: &'static ConfigSection) -> TableReader<'a> {
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
        TableReader::new(table, section.keys, place, origin, self.faults)
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

    fn entry_readers(&self, section: &'static ConfigSection) -> Vec<TableReader<'a>> {
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
                ConfigValue::Table(table) => readers.push(TableReader::new(
                    table,
                    section.keys,
                    place.clone(),
                    item.origin.clone(),
                    self.faults,
                )),
                other => {
                    let message = format!("{place} must be a table, not {}", other.describe_type());
                    self.faults.push(&item.origin, message);
                }
            }
        }
        readers
    }

    fn read_providers(&self, vault: &SecretResolver<'_>) -> Vec<ProviderConfig> {
        let mut providers: Vec<ProviderConfig> = Vec::new();
        for reader in self.entry_readers(&provider::SECTION) {
            let Some(provider) = provider::read_provider_config(&reader, vault) else { continue };
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

    fn read_tiers(&self) -> RateLimitTiers {
        let mut written: Vec<RateLimitTier> = Vec::new();
        for reader in self.entry_readers(&tier::SECTION) {
            let Some(tier) = tier::read_tier(&reader) else { continue };
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

//! Tests of names that resolve to private addresses, to nothing, or too slowly.

use ::web::LookupFuture;

use super::*;

const CALLER: CallerId = CallerId(1);

const NOW: Timestamp = Timestamp::from_ms(1_000_000);

/// Resolves a few names, and records the lookups.
#[derive(Default)]
struct Book {
    asked: Mutex<Vec<String>>,
}

impl NameResolver for Book {
    fn resolve_addresses<'a>(&'a self, name: &'a str, _: Option<CallerId>) -> LookupFuture<'a> {
        self.asked.lock().unwrap().push(name.to_owned());
        let numbers: &[&str] = match name {
            "slow.example.com" => return Box::pin(std::future::pending()),
            "none.example.com" => return Box::pin(async { Err(LookupError::NotFound) }),
            "busy.example.com" => return Box::pin(async { Err(LookupError::Busy) }),
            "empty.example.com" => &[],
            "inward.example.com" => &["10.0.0.1"],
            "mixed.example.com" => &["8.8.8.8", "::1"],
            _ => &["8.8.8.8", "2606:4700::1111"],
        };
        let numbers = numbers.iter().map(|it| it.parse().unwrap()).collect();
        Box::pin(async { Ok(numbers) })
    }
}

fn hosts(domains: &[&str]) -> (HostPolicy, Arc<Book>) {
    let book = Arc::new(Book::default());
    let domains = domains.iter().map(|it| (*it).to_owned()).collect();
    (HostPolicy::new(domains, Some(book.clone())), book)
}

async fn fault(hosts: &HostPolicy, address: &str) -> &'static str {
    judge(hosts, &[address]).await.fault(address).unwrap_or("")
}

async fn judge(hosts: &HostPolicy, addresses: &[&str]) -> CheckedHosts {
    hosts.check_hosts(addresses.iter().copied(), CALLER, NOW).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_name_is_refused_if_any_of_its_addresses_is_private() {
    let (hosts, _) = hosts(&[]);
    let private = "Its host has an address that is not public; send a data URL instead.";
    let unknown = "Its host could not be looked up; check the name, or send a data URL instead.";
    for (name, expected) in [
        ("www.example.com", ""),
        ("inward.example.com", private),
        ("INWARD.example.com.", private),
        ("mixed.example.com", private),
        ("none.example.com", unknown),
        ("empty.example.com", unknown),
        ("slow.example.com", unknown),
        ("8.8.8.8", ""),
    ] {
        assert_eq!(fault(&hosts, &format!("https://{name}/a.png")).await, expected, "{name}");
    }
    assert_eq!(fault(&hosts, "data:image/png;base64,AAAA").await, "");
}

#[tokio::test(start_paused = true)]
async fn slow_names_are_waited_for_together_and_not_for_long() {
    let (hosts, _) = hosts(&[]);
    let before = Instant::now();
    let addresses = ["https://slow.example.com/", "https://www.example.com/"];
    let judged = judge(&hosts, &addresses).await;
    assert_eq!(before.elapsed(), LOOKUP_TIMEOUT);
    assert!(judged.fault(addresses[0]).is_some());
    assert_eq!(judged.fault(addresses[1]), None);
}

#[tokio::test]
async fn what_is_known_is_not_asked_again_for_a_while() {
    let (hosts, book) = hosts(&[]);
    let address = "https://www.example.com/a.png";
    let again = "https://www.example.com/b.png";
    judge(&hosts, &[address, again]).await;
    judge(&hosts, &[again]).await;
    assert_eq!(book.asked.lock().unwrap().len(), 1);
    hosts.check_hosts([again].into_iter(), CALLER, NOW.plus(CACHE_LIFETIME)).await.unwrap();
    assert_eq!(book.asked.lock().unwrap().len(), 2);
    fault(&hosts, "https://none.example.com/").await;
    fault(&hosts, "https://none.example.com/").await;
    assert_eq!(book.asked.lock().unwrap().len(), 4, "what failed is tried again");
}

#[tokio::test]
async fn only_listed_domains_are_fetched_from_if_there_is_a_list() {
    let (hosts, book) = hosts(&["example.com"]);
    let other = "This service allows files from certain hosts only; send a data URL instead.";
    for (name, expected) in [
        ("example.com", ""),
        ("a.b.example.com", ""),
        ("notexample.com", other),
        ("example.com.evil.org", other),
        ("8.8.8.8", other),
    ] {
        assert_eq!(fault(&hosts, &format!("https://{name}/")).await, expected, "{name}");
    }
    assert_eq!(book.asked.lock().unwrap().len(), 2, "nobody asks for others");
    assert!(!fault(&hosts, "https://inward.example.com/").await.is_empty(), "listed is not enough");
}

#[tokio::test]
async fn a_request_names_a_bounded_number_of_hosts() {
    let (hosts, book) = hosts(&[]);
    let addresses: Vec<String> = (0..33).map(|it| format!("https://h{it}.example.com/")).collect();
    let judged =
        hosts.check_hosts(addresses.iter().map(String::as_str), CALLER, NOW).await.unwrap();
    assert_eq!(judged.fault(&addresses[31]), None);
    let many = "A request may name at most 32 hosts; send data URLs instead.";
    assert_eq!(judged.fault(&addresses[32]), Some(many));
    assert_eq!(book.asked.lock().unwrap().len(), 32);
}

#[tokio::test]
async fn where_others_take_all_lookups_the_request_is_refused_and_not_its_address() {
    let (hosts, _) = hosts(&[]);
    let addresses = ["https://www.example.com/", "https://busy.example.com/"];
    let refused = hosts.check_hosts(addresses.into_iter(), CALLER, NOW).await.unwrap_err();
    assert_eq!(refused.status(), 503);
}

#[tokio::test]
async fn what_is_known_is_bounded() {
    let (hosts, _) = hosts(&[]);
    for index in 0..KNOWN_MAX + 10 {
        hosts.cache_verdict(&index.to_string(), HostVerdict::Public, NOW);
    }
    assert_eq!(hosts.known.lock().unwrap().len(), KNOWN_MAX);
    hosts.cache_verdict("later", HostVerdict::Public, NOW.plus(CACHE_LIFETIME));
    assert_eq!(hosts.known.lock().unwrap().len(), 1, "what is old makes room");
}

#[tokio::test]
async fn names_are_believed_where_nobody_looks_them_up() {
    let hosts = HostPolicy::new(Vec::new(), None);
    assert_eq!(fault(&hosts, "https://inward.example.com/").await, "");
}

use super::{purges, schema, stores};
use crate::facts::Facts;
use crate::model::{NoHelp, Store, StoreKind, StoredResponse, Unique};
use crate::source::{FileId, SourceFile};

fn facts(files: &[(&str, &str)]) -> Facts {
    let mut facts = Facts::default();
    for (n, (path, sql)) in (0..).zip(files) {
        let file = SourceFile { id: FileId(n), path: (*path).into(), text: (*sql).into() };
        purges::extract(&file, &mut facts);
        schema::extract(&file, &mut facts);
    }
    stores::join(&mut facts);
    facts
}

fn stores(sql: &str) -> Vec<Store> {
    facts(&[("db/schema.sql", sql)]).stores
}

#[track_caller]
fn one(sql: &str) -> Store {
    let mut found = stores(sql);
    assert_eq!(found.len(), 1, "{sql}: {found:?}");
    found.remove(0)
}

#[track_caller]
fn is_missing(sql: &str) -> Option<NoHelp> {
    match one(sql).unique {
        Unique::Missing { other, .. } => other.map(|(_, why)| why),
        unique => panic!("{sql}: {unique:?}"),
    }
}

#[track_caller]
fn holds(sql: &str) -> Vec<String> {
    match one(sql).unique {
        Unique::On { columns, .. } => columns.into_iter().map(|c| c.name).collect(),
        unique => panic!("{sql}: {unique:?}"),
    }
}

#[test]
fn every_spelling_of_a_key_counts() {
    for key in [
        "event_id UUID PRIMARY KEY",
        "event_id VARCHAR(64) NOT NULL UNIQUE",
        "event_id UUID NOT NULL, PRIMARY KEY (event_id)",
        "id BIGSERIAL PRIMARY KEY, event_id TEXT, CONSTRAINT u UNIQUE (event_id)",
        "id BIGINT AUTO_INCREMENT PRIMARY KEY, event_id VARCHAR(64), UNIQUE KEY u (event_id)",
        "id BIGINT AUTO_INCREMENT PRIMARY KEY, event_id VARCHAR(255), UNIQUE INDEX (event_id(64))",
        "id INT IDENTITY(1,1), event_id NVARCHAR(64), CONSTRAINT pk PRIMARY KEY NONCLUSTERED (event_id ASC)",
        "id BIGSERIAL PRIMARY KEY, event_id TEXT, UNIQUE NULLS NOT DISTINCT (event_id)",
        "event_id TEXT, EXCLUDE USING gist (event_id WITH =)",
        "[event_id] uniqueidentifier NOT NULL PRIMARY KEY CLUSTERED",
        "id INT IDENTITY PRIMARY KEY, event_id NVARCHAR(64) NOT NULL INDEX u UNIQUE",
        "id INT IDENTITY PRIMARY KEY, event_id NVARCHAR(64) NOT NULL, INDEX u UNIQUE NONCLUSTERED (event_id)",
    ] {
        assert_eq!(holds(&format!("CREATE TABLE processed_events ({key});")), ["event_id"], "{key}");
    }
    let with_length = "CREATE TABLE `idempotency_keys` (`key` varchar(64) NOT NULL, response json, PRIMARY KEY (`key`)) ENGINE=InnoDB;";
    assert_eq!(holds(with_length), ["key"]);
}

#[test]
fn keys_that_stop_nothing() {
    let table = |columns: &str| format!("CREATE TABLE processed_events ({columns});");
    assert_eq!(is_missing(&table("id BIGSERIAL PRIMARY KEY, event_id TEXT")), Some(NoHelp::MadeAnew));
    assert_eq!(
        is_missing(&table("id UUID DEFAULT gen_random_uuid() PRIMARY KEY, event_id TEXT")),
        Some(NoHelp::MadeAnew)
    );
    assert_eq!(is_missing(&table("id UUID PRIMARY KEY, event_id TEXT")), Some(NoHelp::Elsewhere));
    assert_eq!(
        is_missing(&table("event_id TEXT, created_at TIMESTAMPTZ, PRIMARY KEY (event_id, created_at)")),
        Some(NoHelp::HasTime)
    );
    assert_eq!(
        is_missing(&table("event_id TEXT, seen TIMESTAMPTZ DEFAULT now(), PRIMARY KEY (event_id, seen)")),
        Some(NoHelp::HasTime)
    );
    assert_eq!(is_missing(&table("event_id TEXT NOT NULL, INDEX ix (event_id)")), None);
    let partial = "CREATE TABLE processed_events (event_id TEXT);
        CREATE UNIQUE INDEX u ON processed_events (event_id) WHERE status = 'done';";
    assert_eq!(is_missing(partial), Some(NoHelp::Partial));
}

#[test]
fn names_are_followed_until_what_they_name_is_dropped() {
    let create = "CREATE TABLE processed_events (id BIGSERIAL PRIMARY KEY, event_id TEXT";
    for gone in [
        "CONSTRAINT u UNIQUE); ALTER TABLE processed_events DROP CONSTRAINT u;",
        ", CONSTRAINT a UNIQUE (event_id)); ALTER TABLE processed_events RENAME CONSTRAINT a TO b; \
         ALTER TABLE processed_events DROP CONSTRAINT b;",
        "); CREATE UNIQUE INDEX a ON processed_events (event_id); ALTER INDEX a RENAME TO b; DROP INDEX b;",
        "); CREATE UNIQUE INDEX a ON processed_events (event_id); \
         ALTER TABLE processed_events ADD CONSTRAINT b UNIQUE USING INDEX a; ALTER TABLE processed_events DROP CONSTRAINT b;",
        ", UNIQUE KEY a (event_id)); ALTER TABLE processed_events RENAME INDEX a TO b, DROP INDEX b;",
    ] {
        assert!(is_missing(&format!("{create} {gone}")).is_some(), "{gone}");
    }
    let renamed = format!("{create}, msg TEXT UNIQUE); ALTER TABLE processed_events DROP COLUMN event_id;")
        + "ALTER TABLE processed_events RENAME COLUMN msg TO event_id;";
    assert_eq!(holds(&renamed), ["event_id"]);
}

#[test]
fn copies_of_a_key_that_has_a_table_of_its_own() {
    let keys =
        "CREATE TABLE idempotency_keys (tenant_id UUID, key TEXT, result_id UUID, PRIMARY KEY (tenant_id, key));";
    let copies =
        "CREATE TABLE tasks (id BIGSERIAL PRIMARY KEY, name TEXT); ALTER TABLE tasks ADD COLUMN idempotency_key TEXT;";
    assert!(is_missing(copies).is_some());
    assert_eq!(stores(&format!("{keys}{copies}")).len(), 1);
    let loose = keys.replace(", PRIMARY KEY (tenant_id, key)", "");
    assert_eq!(stores(&format!("{loose}{copies}")).len(), 2);
}

#[test]
fn a_number_is_a_key_together_with_its_sender() {
    let Unique::Missing { key, .. } =
        one("CREATE TABLE inbox_log (id BIGSERIAL PRIMARY KEY, sender TEXT, msg_no TEXT, response TEXT);").unique
    else {
        panic!("nothing is unique")
    };
    assert_eq!(key.iter().map(|c| &*c.name).collect::<Vec<_>>(), ["sender", "msg_no"]);
}

#[test]
fn what_comes_later_counts_in_the_order_of_the_names() {
    let create = "CREATE TABLE app.processed_events (id BIGSERIAL, event_id TEXT);";
    for add in [
        "CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS u ON app.processed_events USING btree (event_id);",
        "CREATE UNIQUE INDEX ON processed_events (lower(event_id)) WHERE event_id IS NOT NULL;",
        "ALTER TABLE ONLY processed_events ADD CONSTRAINT u UNIQUE (event_id);",
        "ALTER TABLE processed_events ADD UNIQUE INDEX u (event_id), ADD COLUMN x INT;",
        "ALTER TABLE [dbo].[processed_events] WITH CHECK ADD CONSTRAINT pk PRIMARY KEY CLUSTERED ([event_id] ASC)",
        "DO $$ BEGIN ALTER TABLE processed_events ADD CONSTRAINT u UNIQUE (event_id); END $$;",
    ] {
        let found = facts(&[("m/V10__add.sql", add), ("m/V2__make.sql", create)]).stores;
        assert!(matches!(found.as_slice(), [Store { unique: Unique::On { .. }, .. }]), "{add}: {found:?}");
        let drop = "ALTER TABLE processed_events DROP CONSTRAINT u; DROP INDEX u; ALTER TABLE processed_events DROP CONSTRAINT pk;";
        let found = facts(&[("m/V10__add.sql", add), ("m/V11__drop.sql", drop), ("m/V2__make.sql", create)]).stores;
        let is_named = !add.contains("INDEX ON");
        assert_eq!(
            matches!(found.as_slice(), [Store { unique: Unique::Missing { .. }, .. }]),
            is_named,
            "{add}: {found:?}"
        );
    }
}

#[test]
fn default_names_are_known_and_what_takes_back_is_not_applied() {
    let create = "CREATE TABLE inbox (msg_id TEXT PRIMARY KEY, response TEXT);";
    let count = |files: &[(&str, &str)]| {
        facts(files).stores.iter().filter(|s| matches!(s.unique, Unique::Missing { .. })).count()
    };
    assert_eq!(count(&[("m/1.sql", create), ("m/2.sql", "ALTER TABLE inbox DROP CONSTRAINT inbox_pkey;")]), 1);
    assert_eq!(count(&[("m/1.sql", create), ("m/2.sql", "ALTER TABLE inbox DROP PRIMARY KEY;")]), 1);
    assert_eq!(count(&[("m/1.up.sql", create), ("m/1.down.sql", "ALTER TABLE inbox DROP PRIMARY KEY;")]), 0);
    let goose = format!("-- +goose Up\n{create}\n-- +goose Down\nALTER TABLE inbox DROP PRIMARY KEY;");
    assert_eq!(count(&[("m/1.sql", &goose)]), 0);
    assert_eq!(facts(&[("m/1.sql", create), ("m/2.sql", "DROP TABLE inbox;")]).stores, []);
}

#[test]
fn migrations_as_tools_lay_them_out() {
    let make = "CREATE TABLE inbox (id BIGSERIAL PRIMARY KEY, msg_id TEXT NOT NULL, response TEXT);";
    let add = "ALTER TABLE inbox ADD CONSTRAINT inbox_msg UNIQUE (msg_id);";
    let drop = "ALTER TABLE inbox DROP CONSTRAINT inbox_msg;";
    let liquibase = format!(
        "--liquibase formatted sql\n--changeset shop:1\n{make}\n--rollback DROP TABLE inbox;\n--changeset shop:2\n{add}\n--rollback {drop}\n"
    );
    let structure = "CREATE TABLE public.inbox (\n    id bigint NOT NULL,\n    msg_id text NOT NULL,\n    response text\n);\n\
                     ALTER TABLE ONLY public.inbox\n    ADD CONSTRAINT inbox_pkey PRIMARY KEY (id);\n\
                     CREATE UNIQUE INDEX index_inbox_on_msg_id ON public.inbox USING btree (msg_id);\n";
    let layouts: [&[(&str, &str)]; 7] = [
        // sqlx, plain and with a way back
        &[
            ("migrations/20240101000000_inbox.sql", make),
            ("migrations/20240301000000_msg.up.sql", add),
            ("migrations/20240301000000_msg.down.sql", drop),
        ],
        // diesel
        &[
            ("migrations/2024-01-01-000000_inbox/up.sql", make),
            ("migrations/2024-01-01-000000_inbox/down.sql", "DROP TABLE inbox;"),
            ("migrations/2024-03-01-000000_msg/up.sql", add),
            ("migrations/2024-03-01-000000_msg/down.sql", drop),
        ],
        // refinery
        &[("migrations/V1__inbox.sql", make), ("migrations/V2__msg.sql", add)],
        // Flyway
        &[
            ("db/migration/V1__inbox.sql", make),
            ("db/migration/V1.1__msg.sql", add),
            ("db/migration/U1.1__msg.sql", drop),
        ],
        // Liquibase
        &[("db/changelog.sql", &liquibase)],
        // golang-migrate
        &[
            ("db/000001_inbox.up.sql", make),
            ("db/000001_inbox.down.sql", "DROP TABLE inbox;"),
            ("db/000002_msg.up.sql", add),
            ("db/000002_msg.down.sql", drop),
        ],
        // Rails
        &[("db/structure.sql", structure)],
    ];
    for files in layouts {
        let found = facts(files).stores;
        assert!(matches!(found.as_slice(), [Store { unique: Unique::On { .. }, .. }]), "{files:?}: {found:?}");
    }
    // Dropped by a later one, it is gone.
    for files in [
        [("m/20240101_a.sql", make), ("m/20240201_b.sql", add), ("m/20240301_c.sql", drop)],
        [("m/1_a/up.sql", make), ("m/2_b/up.sql", add), ("m/10_c/up.sql", drop)],
        [("m/V1__a.sql", make), ("m/V2__b.sql", add), ("m/V10__c.sql", drop)],
    ] {
        let found = facts(&files).stores;
        assert!(matches!(found.as_slice(), [Store { unique: Unique::Missing { .. }, .. }]), "{files:?}: {found:?}");
    }
}

#[test]
fn two_services_keep_their_tables_apart() {
    let create = "CREATE TABLE inbox (id SERIAL PRIMARY KEY, msg_id TEXT, response TEXT);";
    let add = "ALTER TABLE inbox ADD UNIQUE (msg_id);";
    let found = facts(&[("a/db/1.sql", create), ("b/db/1.sql", create), ("b/db/2.sql", add)]).stores;
    assert!(matches!(found[0].unique, Unique::Missing { .. }));
    assert!(matches!(found[1].unique, Unique::On { .. }));
}

#[test]
fn what_cannot_be_read_is_unknown() {
    for sql in [
        "CREATE TABLE inbox (LIKE inbox_base INCLUDING ALL);",
        "CREATE TABLE inbox AS SELECT * FROM old_inbox;",
        "CREATE TABLE inbox PARTITION OF all_inbox FOR VALUES IN ('a');",
        "CREATE TABLE inbox (msg_id TEXT) INHERITS (base);",
        "CREATE TABLE inbox (msg_id TEXT, {{ columns }});",
        "CREATE TABLE processed_events (event_id String) ENGINE = ReplacingMergeTree ORDER BY event_id;",
        "CREATE TABLE inbox (id UUID, payload JSONB, received_at TIMESTAMPTZ);",
        "CREATE TABLE inbox (msg_id TEXT, response TEXT); ALTER TABLE inbox CHANGE msg_id m_id TEXT UNIQUE;",
    ] {
        assert_eq!(one(sql).unique, Unique::Unknown, "{sql}");
    }
}

#[test]
fn ordinary_tables_are_left_alone() {
    for sql in [
        "CREATE TABLE orders (id BIGSERIAL PRIMARY KEY, order_no TEXT, request_id TEXT);",
        "CREATE TABLE outbox (id BIGSERIAL PRIMARY KEY, event_id UUID, payload JSONB);",
        "CREATE TABLE dead_letters (id BIGSERIAL PRIMARY KEY, message_id TEXT, original BYTEA);",
        "CREATE TABLE parked_messages (id BIGSERIAL PRIMARY KEY, msg_id TEXT);",
        "CREATE TABLE jobs (id BIGSERIAL PRIMARY KEY, idempotency_key TEXT, run_at TIMESTAMPTZ);",
        "CREATE TABLE webhook_deliveries (id BIGSERIAL, event_id TEXT, received_at TIMESTAMPTZ, response_status INT);",
        "CREATE TABLE user_inbox (id BIGSERIAL PRIMARY KEY, message_id TEXT);",
        "CREATE TEMPORARY TABLE inbox (id SERIAL, msg_id TEXT);",
        "CREATE TABLE events (id BIGSERIAL PRIMARY KEY, event_id TEXT, idempotency_key TEXT);",
        "ALTER TABLE inbox ADD COLUMN msg_id TEXT;",
    ] {
        assert_eq!(stores(sql), [], "{sql}");
    }
}

#[test]
fn a_business_table_needs_its_idempotency_key_unique_and_no_more() {
    let missing = one("CREATE TABLE payments (id UUID PRIMARY KEY, idempotency_key TEXT, amount BIGINT);");
    assert_eq!((missing.kind, missing.response), (StoreKind::Business, StoredResponse::NotNeeded));
    assert!(matches!(missing.unique, Unique::Missing { .. }));
    let unique = "CREATE TABLE payments (id UUID PRIMARY KEY, idempotency_key TEXT);
        CREATE UNIQUE INDEX uq ON payments (idempotency_key) WHERE idempotency_key IS NOT NULL;";
    assert_eq!(holds(unique), ["idempotency_key"]);
}

#[test]
fn what_came_in_and_has_no_id_is_kept_for_its_own_sake() {
    let secrets = "CREATE TABLE secrets_inbox (secret_name BYTEA NOT NULL, secret BYTEA NOT NULL);";
    assert_eq!(facts(&[("m/1.sql", secrets)]).stores, []);
    let payments = "CREATE TABLE payments_inbox (msg_id TEXT PRIMARY KEY, status TEXT);";
    assert_eq!(one(payments).response, StoredResponse::Missing);
}

#[test]
fn the_digest_of_a_request_is_no_key() {
    let by_id =
        "CREATE TABLE idempotency_key (id UUID PRIMARY KEY, tenant_id UUID, request_hash TEXT, response_body JSONB);";
    assert_eq!(one(by_id).unique, Unique::Unknown);
    let by_key =
        "CREATE TABLE idempotency_keys (id BIGSERIAL PRIMARY KEY, key TEXT, request_hash TEXT, response_body JSONB);";
    assert!(matches!(one(by_key).unique, Unique::Missing { .. }));
}

#[test]
fn responses_are_for_those_who_wait() {
    let response = |sql: &str| one(sql).response;
    for sql in [
        "CREATE TABLE idempotent_requests (order_no TEXT PRIMARY KEY, status TEXT);",
        "CREATE TABLE inbox_log (msg_id TEXT PRIMARY KEY, status TEXT, created_at TIMESTAMPTZ);",
        "CREATE TABLE idempotency_keys (key TEXT PRIMARY KEY, response_body_hash TEXT);",
    ] {
        assert_eq!(response(sql), StoredResponse::Missing, "{sql}");
    }
    for sql in [
        "CREATE TABLE idempotency_keys (key TEXT PRIMARY KEY, response_code INT);",
        "CREATE TABLE idempotency_keys (key TEXT PRIMARY KEY, payment_id BIGINT REFERENCES payments);",
        "CREATE TABLE inbox (msg_id TEXT PRIMARY KEY, result JSONB);",
    ] {
        assert_eq!(response(sql), StoredResponse::Kept, "{sql}");
    }
    for sql in [
        "CREATE TABLE processed_events (event_id TEXT PRIMARY KEY);",
        "CREATE TABLE inbox (id UUID PRIMARY KEY, type TEXT, payload JSONB, processed_at TIMESTAMPTZ);",
        "CREATE TABLE inbox_state (message_id UUID, consumer_id UUID, PRIMARY KEY (message_id, consumer_id));",
    ] {
        assert_eq!(response(sql), StoredResponse::NotNeeded, "{sql}");
    }
}

#[test]
fn keys_of_the_business() {
    let weak = |sql: &str| matches!(one(sql).unique, Unique::On { business_only: true, .. });
    for columns in ["order_no TEXT PRIMARY KEY", "tenant_id INT, invoice_id INT, PRIMARY KEY (tenant_id, invoice_id)"] {
        assert!(weak(&format!("CREATE TABLE idempotency_keys ({columns});")), "{columns}");
    }
    for columns in [
        "sender TEXT, msg_no INT, PRIMARY KEY (sender, msg_no)",
        "order_no TEXT UNIQUE, message_id TEXT UNIQUE",
        "order_no TEXT, event_id TEXT, PRIMARY KEY (order_no, event_id)",
        "user_id INT, key TEXT, PRIMARY KEY (user_id, key)",
    ] {
        assert!(!weak(&format!("CREATE TABLE idempotency_keys ({columns});")), "{columns}");
    }
}

#[test]
fn ages_in_every_dialect() {
    let day = 86_400;
    for (age, seconds) in [
        ("now() - interval '1 day'", Some(day)),
        ("now() - '36 hours'::interval", Some(36 * 3600)),
        ("now() - make_interval(days => 7)", Some(7 * day)),
        ("NOW() - INTERVAL 3 DAY", Some(3 * day)),
        ("DATE_SUB(NOW(), INTERVAL 2 WEEK)", Some(14 * day)),
        ("datetime('now', '-7 days')", Some(7 * day)),
        ("DATEADD(day, -5, SYSUTCDATETIME())", Some(5 * day)),
        ("now() - 30 * interval '1 day'", Some(30 * day)),
        ("now() - interval '1 hour' * 2", Some(7200)),
        ("now() - interval 'P2D'", Some(2 * day)),
        ("now() - interval '1 day 12:00:00'", None),
        ("now() - interval '1 day' * $1", None),
        ("$1", None),
        ("now() - interval '1 day' - interval '2 hours'", None),
    ] {
        let sql = format!("DELETE FROM inbox WHERE created_at < {age};");
        let found = facts(&[("db/purge.sql", &sql)]);
        let [purge] = found.purges.as_slice() else { panic!("{sql}: {:?} {:?}", found.purges, found.unread) };
        assert_eq!(purge.age.map(|(age, _)| age.as_secs()), seconds, "{sql}");
    }
}

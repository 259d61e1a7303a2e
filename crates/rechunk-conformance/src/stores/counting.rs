use rechunk_store::{ControlTraffic, Meter, Role, RoleTraffic, Store, Traffic};

use super::objects::put;
use super::reading::{ABSENT, TEN};
use super::rule::{failed, holds};
use crate::Violation;

/// Checks that reads are counted by role, in requests and bytes.
pub(super) async fn check_reading(store: &Store) -> Result<(), Violation> {
    let meter = Meter::new();
    let control = store.with_meter(&meter).with_role(Role::Control);
    let source = control.with_role(Role::Source);
    let read = async {
        source.get(TEN, 10).await?;
        source.get(ABSENT, 9).await?;
        source.get_range(TEN, 1, 2).await?;
        control.get("zarr.json", 9).await?;
        control.get(ABSENT, 9).await?;
        source.exists(TEN).await
    };
    read.await.map_err(|error| failed(store, "be read", &error))?;
    let expected = Traffic {
        source: RoleTraffic {
            get_requests: 2,
            get_missing: 1,
            read_bytes: 12,
            ..RoleTraffic::default()
        },
        control: ControlTraffic { get: 2, head: 1, ..ControlTraffic::default() },
        ..Traffic::default()
    };
    compare(store, &meter, &expected)
}

/// Checks that writes are counted by role, in requests, bytes and objects.
pub(super) async fn check_writing(store: &Store) -> Result<(), Violation> {
    let meter = Meter::new();
    let control = store.with_meter(&meter).with_role(Role::Control);
    let target = control.with_role(Role::Target);
    put(&target, "counted/0", b"hello").await?;
    put(&target, "counted/1", b"").await?;
    put(&control, "counted/zarr.json", b"{}").await?;
    for key in ["counted/0", "counted/1", "counted/zarr.json"] {
        target.delete(key).await.map_err(|error| failed(store, "delete an object", &error))?;
    }
    let expected = Traffic {
        target: RoleTraffic {
            put_requests: 2,
            written_bytes: 5,
            objects: 2,
            ..RoleTraffic::default()
        },
        control: ControlTraffic { put: 1, delete: 3, ..ControlTraffic::default() },
        ..Traffic::default()
    };
    compare(store, &meter, &expected)
}

/// Compares what was counted; attempts on the wire are the affair of each store.
fn compare(store: &Store, meter: &Meter, expected: &Traffic) -> Result<(), Violation> {
    let mut counted = meter.traffic();
    for role in [&mut counted.source, &mut counted.intermediate, &mut counted.target] {
        role.http_attempts = 0;
    }
    holds(store, counted == *expected, &format!("{counted:?} is {expected:?}"))
}

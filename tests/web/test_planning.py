"""Planning: forecasts, forks, borrowed results, reservations, budgets and tags, as a scientist meets them."""

from playwright.sync_api import expect

from tests.web.conftest import Open
from tests.web.scene import Scene


def results(scene: Scene, study: str, many: int = 8) -> None:
    scene.report(study, *({"candidate": f"A{n}", "value": 20.0 + 3 * n} for n in range(1, many + 1)))


def test_a_forecast_says_how_many_experiments_are_needed(window: Open, scene: Scene, study: str) -> None:
    results(scene, study)
    page = window().sign_in(scene.key, f"/studies/{study}/forecast")
    page.get_by_label("Batch sizes to compare").fill("two")
    page.get_by_role("button", name="Simulate").click()
    expect(page.get_by_role("alert")).to_contain_text("whole numbers")
    page.get_by_label("Batch sizes to compare").fill("2, 4")
    page.get_by_label("Simulated studies of each").fill("3")
    page.get_by_role("button", name="Simulate").click()
    forecast = page.get_by_label("Forecast 1", exact=True)
    expect(forecast.get_by_role("table")).to_be_visible()
    for choice in ("Batches of 2", "Batches of 4", "Random choice"):
        expect(forecast.get_by_role("cell", name=choice)).to_be_visible()
    expect(forecast.locator(".big-words")).to_contain_text("random choice needs")
    expect(forecast.locator(".chart svg").first).to_be_visible()


def test_a_forecast_under_way_can_be_cancelled(window: Open, scene: Scene, study: str) -> None:
    results(scene, study, 20)
    page = window().sign_in(scene.key, f"/studies/{study}/forecast")
    page.get_by_label("Batch sizes to compare").fill("1")
    page.get_by_label("Simulated studies of each").fill("100")
    page.get_by_role("button", name="Simulate").click()
    page.get_by_label("Forecast 1", exact=True).get_by_role("button", name="Cancel").click()
    expect(page.get_by_label("Forecast 1", exact=True)).to_contain_text("cancelled")
    assert scene.send("GET", f"/v1/studies/{study}/backtests/1")["state"] == "cancelled"


def test_too_few_results_and_several_objectives_get_no_forecast(window: Open, scene: Scene, study: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{study}/forecast")
    expect(page.get_by_text("Too few results")).to_be_visible()
    objectives = [{"name": "yield", "direction": "maximize"}, {"name": "cost", "direction": "minimize"}]
    scene.send("PUT", "/v1/studies/two-goals", json={"objectives": objectives})
    page.goto("/studies/two-goals/forecast")
    expect(page.get_by_text("One objective only")).to_be_visible()


def test_what_if_forks_the_study_as_it_was(window: Open, scene: Scene, study: str) -> None:
    results(scene, study, 4)
    page = window().sign_in(scene.key, f"/studies/{study}/events")
    page.get_by_role("button", name="Fork the study after event 2").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name of the new study").fill(f"{study}-again")
    dialog.get_by_label("Goal").select_option("explore")
    dialog.get_by_role("button", name="Fork").click()
    expect(page.get_by_role("heading", name=f"{study}-again")).to_be_visible()
    fork = scene.send("GET", f"/v1/studies/{study}-again")
    assert (fork["forked_from"], fork["configuration"]["goal"]) == ({"study": study, "at": 2}, "explore")
    assert scene.send("GET", f"/v1/studies/{study}-again/summary")["counts"]["observations"] == 0


def test_a_study_is_forked_from_the_list(window: Open, scene: Scene, study: str) -> None:
    results(scene, study, 4)
    page = window().sign_in(scene.key)
    page.get_by_role("button", name=f"Fork {study}", exact=True).click()
    page.get_by_role("dialog").get_by_label("Name of the new study").fill(study)
    page.get_by_role("dialog").get_by_role("button", name="Fork").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()  # the name is taken, and says so
    page.get_by_role("dialog").get_by_label("Name of the new study").fill(f"{study}-copy")
    page.get_by_role("dialog").get_by_role("button", name="Fork").click()
    expect(page.get_by_role("heading", name=f"{study}-copy")).to_be_visible()
    assert scene.send("GET", f"/v1/studies/{study}-copy/summary")["counts"]["observations"] == 4


def test_results_of_an_earlier_study_are_borrowed_and_given_back(window: Open, scene: Scene, study: str) -> None:
    results(scene, study, 12)
    scene.send("POST", f"/v1/studies/{study}/fork", json={"name": f"{study}-new", "at": 2})
    page = window().sign_in(scene.key, f"/studies/{study}-new/settings")
    page.get_by_role("button", name="Borrow from an earlier study").click()
    page.get_by_role("dialog").get_by_label(study, exact=False).first.check()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.locator(".borrowed")).to_contain_text("12 results")
    page.get_by_role("button", name="Change", exact=True).last.click()
    page.get_by_role("dialog").locator("input:checked").uncheck()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Borrow from an earlier study")).to_be_visible()
    assert scene.send("GET", f"/v1/studies/{study}-new/borrowed")["borrowed"] == []


def test_a_candidate_is_reserved_in_its_drawer_and_released_on_the_overview(
    window: Open, scene: Scene, study: str
) -> None:
    page = window().sign_in(scene.key, f"/studies/{study}/candidates?candidate=A5")
    page.get_by_role("button", name="Reserve").click()
    page.get_by_role("dialog").get_by_label("Who will measure it").fill("bench-7")
    page.get_by_role("dialog").get_by_role("button", name="Reserve").click()
    expect(page.locator(".drawer")).to_contain_text("reserved for bench-7")
    page.goto(f"/studies/{study}")
    page.get_by_role("button", name="Release A5").click()
    expect(page.get_by_role("button", name="Release A5")).to_have_count(0)
    assert scene.send("GET", f"/v1/studies/{study}/reservations")["reservations"] == []


def test_the_budget_shows_what_is_spent_and_what_is_left(window: Open, scene: Scene) -> None:
    scene.send("PUT", "/v1/studies/priced", json={"budget": 100, "cost_unit": "EUR"})
    text = "key,t,price\n" + "".join(f"A{n},{n},10\n" for n in range(1, 13))
    scene.send("PUT", "/v1/studies/priced/candidates?cost=price", content=text, headers={"Content-Type": "text/csv"})
    scene.report("priced", {"candidate": "A1", "value": 3.0}, {"candidate": "A2", "value": 4.0})
    page = window().sign_in(scene.key, "/studies/priced")
    spending = page.locator(".stat", has_text="Left of the budget")
    expect(spending).to_contain_text("80 EUR")
    expect(spending).to_contain_text("20 EUR of 100 EUR spent")
    page.goto("/studies/priced/settings")
    page.get_by_role("button", name="Change", exact=True).first.click()
    page.get_by_role("dialog").get_by_label("Budget for all measurements").fill("250")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_text("250 EUR")).to_be_visible()


def test_studies_are_found_by_their_tags(window: Open, scene: Scene, study: str) -> None:
    page = window().sign_in(scene.key, f"/studies/{study}/settings")
    page.get_by_role("button", name="Change", exact=True).first.click()
    page.get_by_role("dialog").get_by_label("Tags").fill("solvent screen, Q4")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_text("solvent screen, Q4")).to_be_visible()
    page.goto("/")
    page.get_by_label("Tag", exact=True).select_option("solvent screen")
    expect(page.locator(".study-card")).to_have_count(1)
    expect(page.locator(".study-card")).to_contain_text(study)


def test_the_wall_shows_every_study(window: Open, scene: Scene, study: str) -> None:
    results(scene, study, 3)
    page = window(viewport={"width": 1920, "height": 1080}).sign_in(scene.key, "/?wall")
    expect(page.locator(".study-card", has_text=study)).to_be_visible()
    expect(page.get_by_role("heading", name="Studies", exact=True)).to_be_hidden()
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Studies", exact=True)).to_be_visible()


def test_the_audit_computes_every_batch_again_and_shows_what_is_stored(window: Open, scene: Scene, study: str) -> None:
    for suggestion in scene.ask(study, "b", min_size=3, max_size=3)["suggestions"]:
        scene.report(study, {"suggestion": suggestion["suggestion"], "values": [30.0] * suggestion["replicates"]})
    page = window().sign_in(scene.key, f"/studies/{study}/audit")
    page.get_by_role("button", name="Compute the batch again").click()
    expect(page.get_by_text("The batch is identical.")).to_be_visible()
    page.get_by_role("button", name="Verify the ledger").click()
    expect(page.get_by_text("events are intact")).to_be_visible()
    page.get_by_text("Study created.").click()
    stored = scene.send("GET", f"/v1/studies/{study}/events?limit=1")["events"][0]
    expect(page.locator(".stored")).to_contain_text(stored["hash"])
    expect(page.locator(".stored")).to_contain_text(stored["payload"][:40])

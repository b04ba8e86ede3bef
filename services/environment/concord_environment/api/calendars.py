"""`GET /calendar/calendars`: the calendars there are."""

from fastapi import APIRouter, Depends

from concord_environment.api.access import Addressed, permitted
from concord_environment.modalities.calendar.views import CalendarList, list_calendars

router = APIRouter(prefix="/calendar/calendars", tags=["calendar"])


@router.get("", dependencies=[Depends(permitted("calendar:calendars:list"))])
async def read_calendars(simulation: Addressed) -> CalendarList:
    """Every calendar, and which is the default."""
    return list_calendars(simulation.world)

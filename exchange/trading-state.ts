/** Whether orders are accepted and events open and end; the control call `trading` changes it. */
export class TradingState {
  open = true;
}

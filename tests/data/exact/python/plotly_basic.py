import plotly.graph_objects as go, plotly.express as px
f = go.Figure(go.Bar(x=[1, 2], y=[3, 4]))
print(f.to_json()[:80], type(px.line(x=[1], y=[2])).__name__, len(f.to_html(include_plotlyjs=False)) > 100)
go.Figure(bogus=1)

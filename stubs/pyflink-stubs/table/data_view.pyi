from scurry.table.data_view import *
